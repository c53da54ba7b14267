// The merchant guide is correct: its receivers run and accept only what this service signed; its request is accepted.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { signaturesOf } from '../../src/clients/merchant/callback-message.ts';
import { readFields } from '../../src/commands/fields.ts';
import { loadMerchants } from '../../src/config/merchants.ts';
import { evolve, noPayment } from '../../src/events/payment.ts';
import { paymentRequestBody } from '../../src/http/generic/request.ts';
import { paymentFields } from '../../src/receipts/payment-fields.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { startApp } from '../support/app.ts';
import { opened, requested, sen } from '../support/payments.ts';

const guide = readFileSync(new URL('../../content/docs/merchant-guide.md', import.meta.url), 'utf8');
const blockOf = (language: string) =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(guide)?.[1] ?? '';

const signWebhook = (
  secrets: string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
) => signaturesOf(secrets, { id, now: new Date(timestamp * 1000), body });

const secret = `whsec_${Buffer.from('a key of the tests, 32 bytes long').toString('base64')}`;

const receivers = [
  { language: 'js', file: 'receiver.mjs', run: (file: string) => [process.execPath, file] },
  { language: 'python', file: 'receiver.py', run: (file: string) => ['python3', file] },
  {
    language: 'java',
    file: 'Receiver.java',
    run: (file: string) => ['java', '-XX:TieredStopAtLevel=1', file],
  },
  {
    language: 'php',
    file: 'receiver.php',
    run: (file: string, port: number) => ['php', '-S', `127.0.0.1:${port}`, file],
  },
] as const;

/** What the guide says to write for callbacks that come as forms: in which language, instead of what, and what. */
const formRows = Array.from(
  guide.matchAll(/^\| (?:Node|Python|PHP) \| `(.*?)` \| `(.*?)`(?:, and `(.*)`)? \|$/gm),
  ([, instead = '', write = '', first = '']) => ({ instead, write, first }),
);

/** The receiver as it is, and for forms; there is no row for Java. */
const variants = receivers.flatMap(({ language, ...rest }) => {
  const code = blockOf(language);
  const row = formRows.find(({ instead }) => code.includes(instead));
  const forms = row && `${row.first}\n${code.replace(row.instead, row.write)}`;
  const receiver = { ...rest, language, code, encode: (fields: object) => JSON.stringify(fields) };
  const encode = (fields: object) => new URLSearchParams({ ...fields }).toString();
  return forms
    ? [receiver, { ...receiver, language: `${language} (forms)`, code: forms.trimStart(), encode }]
    : receiver;
});

test('the guide says how to read forms in each language with a parser of its own', (t) => {
  t.is(variants.length, receivers.length + 3);
});

for (const { language, file, run, code, encode } of variants) {
  test(`the ${language} receiver accepts genuine callbacks once, and nothing else`, async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, file);
    await writeFile(path, code);
    const port = await freePort();
    const [command = '', ...args] = run(path, port);
    if (!isInstalled(command)) {
      t.log(`SKIPPED: there is no ${command}`);
      return t.pass();
    }
    for (const key of [secret, 'a plain secret of 24 characters']) {
      const receiver = await start(
        t,
        command,
        args,
        { PORT: String(port), WEBHOOK_SECRET: key, TMPDIR: folder },
        port,
      );
      await obstruct(t, port);
      await flood(t, port, language);
      await check(t, `http://127.0.0.1:${port}/callback`, key, { output: receiver.output, encode });
      await receiver.stop();
    }
  });
}

/** Two strangers send half a request each: one stays connected, the other leaves. */
async function obstruct(t: ExecutionContext, port: number): Promise<void> {
  for (const leaves of [false, true]) {
    const stranger = connect(port, '127.0.0.1');
    // A receiver that has ended shows in what follows.
    stranger.on('error', () => {});
    t.teardown(() => stranger.destroy());
    const half = 'POST /callback HTTP/1.1\r\nHost: receiver\r\nContent-Length: 9\r\n\r\n{';
    await new Promise((resolve) => stranger.write(half, resolve));
    if (leaves) stranger.destroy();
  }
}

/**
 * A stranger sends a body without an end, and the receiver does not wait for the rest: it answers, or ends the connection.
 * Python answers when it has the headers; it would end the connection without a word after half a minute. PHP takes 8 MiB,
 * a setting of its own (`post_max_size`).
 */
async function flood(t: ExecutionContext, port: number, language: string) {
  if (language.startsWith('php')) return;
  const stranger = connect(port, '127.0.0.1');
  const answer = new Promise((resolve) => {
    stranger.once('data', resolve);
    stranger.once('close', () => resolve(''));
  });
  stranger.on('error', () => {});
  t.teardown(() => stranger.destroy());
  stranger.write('POST /callback HTTP/1.1\r\nHost: receiver\r\nContent-Length: 999999999\r\n\r\n');
  if (language.startsWith('python')) return t.regex(String(await answer), /^HTTP\/1\.0 413 /);
  stranger.write(Buffer.alloc(2_000_000, 'a'));
  await answer;
}

async function check(
  t: ExecutionContext,
  url: string,
  key: string,
  { output, encode }: { output: () => string; encode: (fields: object) => string },
): Promise<void> {
  const timestamp = Math.floor(Date.now() / 1000);
  const body = encode({
    trans_id: 'INV-1',
    payment_status: 'Successful',
    receipt_no: '',
    buyer_name: 'Siti 陈 \u{1f600}',
  });
  const id = `5K3M9QW2Z7TCV8XN4RBJ6HYDFE-${key.length}`;
  const genuine = {
    id,
    timestamp,
    body,
    signature: signWebhook(['another secret', key], { id, timestamp, body }),
  };
  const send = async (over: Partial<typeof genuine>) => {
    const it = { ...genuine, ...over };
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': it.id,
        'webhook-timestamp': String(it.timestamp),
        'webhook-signature': it.signature,
      },
      body: it.body,
    });
    return response.status;
  };
  const signedAt = (at: number) => ({
    timestamp: at,
    signature: signWebhook([key], { id, timestamp: at, body }),
  });
  const forgeries = {
    body: { body: body.replace('INV-1', 'INV-2') },
    id: { id: 'other' },
    timestamp: { timestamp: timestamp + 1 },
    'other secret': { signature: signWebhook(['another secret'], genuine) },
    'no signature': { signature: '' },
    'no version': { signature: genuine.signature.replaceAll('v1,', '') },
    'too old': signedAt(timestamp - 1_000),
    'too early': signedAt(timestamp + 1_000),
    'no time': { timestamp: Number.NaN, signature: signWebhook([key], { id, timestamp: Number.NaN, body }) },
  };
  for (const [name, forgery] of Object.entries(forgeries)) t.is(await send(forgery), 401, name);
  t.false(output().includes('INV-'));
  t.is(await send({}), 204);
  t.is(await send({}), 204, 'a repeat gets the same answer as the first');
  await until(() => output().includes('INV-1: Successful'));
  t.is(output().split('INV-1: Successful').length, 2, 'and is booked once');
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a receiver and waits until it answers; it is stopped at the end of the test at the latest. */
async function start(
  t: ExecutionContext,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  port: number,
) {
  const child: ChildProcess = spawn(command, args, { env: { ...process.env, ...env } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += chunk));
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  t.teardown(stop);
  await until(() => {
    if (child.exitCode !== null) throw new Error(printed);
    return fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).then(
      ({ status }) => status === 401,
      () => false,
    );
  });
  return { stop, output: () => printed };
}

test('the guide and the sample merchant have the same public secret', (t) => {
  const demo = loadMerchants(fileURLToPath(new URL('../../config/merchants.yaml', import.meta.url)), false);
  t.deepEqual(demo.get('demo-app')?.webhookSecrets, [/export WEBHOOK_SECRET=(\S+)/.exec(guide)?.[1]]);
});

test('the example request in the guide is accepted', (t) => {
  const body: unknown = JSON.parse(/-d '(\{.*?\n {2}\})'/s.exec(guide)?.[1] ?? '');
  const struct = paymentRequestBody({ maxAmountSen: sen(100_000_000), production: false });
  t.is(readFields(body, struct).amount, sen(12_050));
});

const run = async (command: string, args: string[]) => (await promisify(execFile)(command, args)).stdout;
const notFound = async () => ({ status: 'not_found', results: [], others: [], raw: {} }) as const;

test('the examples of the guide work as they are, one after the other', async (t) => {
  const demo = loadMerchants('config/merchants.yaml', false);
  let requestedId = '';
  const app = await startApp({
    config: { merchants: demo },
    // As PostgreSQL would find it.
    findOfMerchant: async () => ({ rows: [{ transactionId: requestedId, state: null }], nextAfter: null }),
    registry: { ask: notFound, askByTransaksiId: notFound },
  });
  t.teardown(() => app.close());
  const blocks = Array.from(guide.matchAll(/```sh\n(.*?)```/gs), ([, block = '']) => block);
  const [words, answers] = [new Map<string, string>(), [] as string[]];
  for (const block of blocks) {
    const before = [...words].map(([name, value]) => `${name}='${value}'\n`).join('');
    // What it sets is there for the next one.
    const script = `${before}${block.replaceAll('http://localhost:5173', app.url)}\necho; declare -p ID NEW_KEY 2>&1 || true`;
    const shown = await run('bash', ['-o', 'pipefail', '-ec', script]);
    for (const [, name = '', value = ''] of shown.matchAll(/^declare -- (ID|NEW_KEY)="(.*)"$/gm))
      words.set(name, value);
    answers.push(shown);
    requestedId ||= /"transaction_id":"([^"]+)"/.exec(shown)?.[1] ?? '';
  }
  t.deepEqual(
    answers.filter((answer) => answer.includes('"status":false')),
    [],
  );
  // Not the secret to export, the requery of what the registry does not know, and the new key alone.
  t.is(answers.filter((answer) => answer.includes('"status":true')).length, blocks.length - 3);
  t.regex(words.get('NEW_KEY') ?? '', /^key_/);
});

test('the guide names every field of a callback', (t) => {
  const payment = evolve(noPayment, requested());
  if (payment.status === 'none') return t.fail();
  const table = /\| field \| example[^\n]*(.*?)\n\n/s.exec(guide)?.[1] ?? '';
  const named = table.split('\n').flatMap((line) => line.split('|')[1]?.match(/[a-z_]{3,}/g) ?? []);
  t.deepEqual(named.sort(), Object.keys(paymentFields(opened(payment))).sort());
});
