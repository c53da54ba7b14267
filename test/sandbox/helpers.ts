/** A gateway, and a service that hands orders over and receives results, on real ports. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { startSandboxGateway } from '../../packages/sandbox/gateway.ts';

export const secret = 'a secret of two';
export const webhookSecret = `whsec_${Buffer.from('a webhook secret of the tests').toString('base64')}`;
export const registryToken = 'a token of the registry';
export type Fields = Record<string, string>;

/** A third implementation of the checksum, based on URL's own encoder, to expose errors in the other two. */
export function sign(fields: Fields): string {
  const encoded = (value: string) =>
    new URLSearchParams([['', value]])
      .toString()
      .slice(1)
      .replaceAll('+', '%20')
      .replaceAll('*', '%2A')
      .replaceAll('%7E', '~');
  const signed = Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** A temporary folder, deleted after the test. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A gateway that stops at the end of the test, before its folder is deleted, unless the test stops it. */
export async function startGateway(
  t: ExecutionContext,
  file?: string,
  outboxDir = '/nowhere',
  log = pino({ level: 'silent' }),
) {
  const gateway = await startSandboxGateway({
    port: 0,
    secret,
    registryToken,
    webhookSecrets: [webhookSecret],
    outboxDir,
    file: file ?? join(await temporaryFolder(t), 'orders.db'),
    log,
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= gateway.close();
    return closed;
  };
  t.teardown(close);
  return { ...gateway, close };
}

/**
 * A service that receives results at `url`. `next` waits for the next one; it sends `answers` first, then 303.
 * One that is down keeps its port, which another process could take meanwhile, and closes every connection.
 */
export async function startReceiver(t: ExecutionContext, { isDown = false, answers = [] as number[] } = {}) {
  const received: Fields[] = [];
  let closes = isDown;
  const server = createServer(async (request, response) => {
    if (closes) return void request.destroy();
    const body = new URLSearchParams(await text(request));
    response.writeHead(answers.shift() ?? 303, { location: '/receipt' }).end();
    received.push(Object.fromEntries(body));
    server.emit('result');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  t.teardown(close);
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/generic/response`,
    received,
    close,
    comeUp: () => {
      closes = false;
    },
    async next(): Promise<Fields> {
      while (received.length === 0) await once(server, 'result');
      return received.shift() ?? {};
    },
  };
}

/** A signed hand-over as the service sends it. */
export function order(changes: Fields): Fields {
  const fields: Fields = {
    MERCHANT_CODE: 'demo-app',
    TRANS_ID: '0123456789ABCDEFGHJKMNPQRS',
    MERCHANT_ORDER_NO: '0123456789ABCDEFGHJKMNPQRS-1',
    AMOUNT: '1234.50',
    PAYMENT_MODE: 'fpx',
    BANK_CODE: 'TEST0021',
    DESCRIPTION: 'Assessment tax (2026) & more',
    BUYER_NAME: "Siti 'Ana' binti Ali*~!",
    BUYER_EMAIL: 'siti@example.com',
    RESPONSE_URL: 'http://127.0.0.1:9/never',
    ...changes,
  };
  return { ...fields, CHECKSUM: sign(fields) };
}

/** Posts a form without following the redirect, as a browser would see it. */
export function post(url: string, fields: Fields): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}

/** The hidden fields and the target of the form that the payer's browser posts. */
export function browserForm(html: string): { action: string; fields: Fields } {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  const fields = Object.fromEntries(
    Array.from(inputs, ([, name = '', value = '']) => [name, unescaped(value)]),
  );
  return { action: unescaped(/action="([^"]*)"/.exec(html)?.[1] ?? ''), fields };
}

function unescaped(html: string): string {
  const characters: Fields = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&#96;': '`',
    '&amp;': '&',
    '&#92;': '\\',
  };
  return html.replace(/&[#\w]+;/g, (entity) => characters[entity] ?? entity);
}
