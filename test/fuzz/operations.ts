// Requests of the operations of /openapi.json: right ones from its samples and schemas, and ones with faults in any part.
import { checksumOf } from '../../packages/sandbox/checksum.ts';
import type { Call } from '../support/http-client.ts';
import { apiKey, gatewaySecret } from '../support/served-ledger.ts';
import type { Chance } from './chance.ts';
import { channelOf, type Operation, type Scene } from './scene.ts';
import { allowed, mutatedFields, mutatedText, oddTexts, type Schema } from './values.ts';

const credentials: Readonly<Record<string, Record<string, string>>> = {
  apiKey: { authorization: `Bearer ${apiKey}` },
  merchantKey: { authorization: 'Bearer demo-key', 'x-merchant-code': 'demo-app' },
  landregKey: { authorization: 'Bearer landreg-key' },
};
const accepted = ['application/json', 'application/json', 'text/html', '*/*', 'image/png'];
const oddHeaders = 'accept accept-language x-request-id x-forwarded-for host cookie origin range'.split(' ');
const oddTypes =
  'text/plain|application/xml|multipart/form-data||a/b; charset=utf-7|application/json; charset=utf-16|\
application/json|application/x-www-form-urlencoded|__proto__'.split('|');

/** A request of the operation; each part of it is wrong with the probability `risk`. */
export function callOf(operation: Operation, scene: Scene, risk: number): Call {
  const { chance, links } = scene;
  const { path, method, described } = operation;
  const text = (right: string) => (chance.happens(risk) ? mutatedText(chance, right) : right).toWellFormed();
  const pathname = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(text(rightParameter(path, name, scene)).slice(0, 500)),
  );
  const link = chance.happens(0.5) ? links.get(pathname) : undefined;
  const query = link ?? String(queryOf(operation, scene, risk));
  const [scheme = ''] = Object.keys(described.security[0] ?? {});
  const presented = link || chance.happens(risk / 3) ? {} : (credentials[scheme] ?? {});
  const body = bodyOf(operation, scene, risk);
  const headers = {
    ...Object.fromEntries(Object.entries(presented).map(([name, value]) => [name, text(value)])),
    accept: chance.pick(accepted),
    ...(body && { 'content-type': chance.happens(risk / 3) ? chance.pick(oddTypes) : body.type }),
    ...(chance.happens(risk) && { [chance.pick(oddHeaders)]: chance.pick(oddTexts) }),
  };
  return {
    method,
    path: `${pathname}${query === '' ? '' : `?${query}`}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, sendable(value)])),
    ...(body && { body: body.content }),
  };
}

/** What Node's client accepts as the value of a header. */
const sendable = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 1_000);

function rightParameter(path: string, name: string, { payments, userId }: Scene): string {
  const { id, reference } = payments[channelOf(path)];
  if (name === 'transaksi_id') return reference;
  if (name === 'delivery') return 'callback-1';
  return path.startsWith('/api') ? userId : id;
}

function queryOf({ path, described }: Operation, scene: Scene, risk: number): URLSearchParams {
  const { chance } = scene;
  const parameters = (described.parameters ?? []) as { in: string; name: string; schema?: Schema }[];
  const asked = parameters.filter((each) => each.in === 'query' && chance.happens(0.5));
  const right = asked.map(({ name, schema = {} }): [string, string] => {
    const value = name === 'TRANS_ID' ? rightParameter(path, name, scene) : allowed(chance, schema);
    return [name, String(value ?? '')];
  });
  const query = new URLSearchParams();
  const add = (name: string, value: string) =>
    query.append(name.toWellFormed().slice(0, 100), value.toWellFormed().slice(0, 100));
  for (const [name, value] of right) add(name, chance.happens(risk) ? mutatedText(chance, value) : value);
  if (chance.happens(risk / 3)) add(chance.pick([...oddTexts, 'STATUS', 'sig', 'look']), '1');
  return query;
}

type Body = { type: string; content: string | Buffer };

function bodyOf({ path, described }: Operation, scene: Scene, risk: number): Body | null {
  const { chance, description } = scene;
  const types = Object.entries(described.requestBody?.content ?? {});
  if (types.length === 0)
    return chance.happens(risk / 4) ? { type: chance.pick(oddTypes), content: damaged(chance, '{}') } : null;
  const [type, { example, schema }] = chance.pick(types) as [string, { example: object; schema: Schema }];
  const named: Schema = description.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const chosen = Object.entries(named.properties ?? {})
    .filter(() => chance.happens(risk / 2))
    .map(([name, property]) => [name, allowed(chance, property)] as const)
    .filter(([, value]) => value !== undefined);
  const right = { ...example, ...Object.fromEntries(chosen), ...rightFields(path, scene) };
  const fields = chance.happens(risk) ? mutatedFields(chance, right) : right;
  if (path.endsWith('/response') && !chance.happens(risk / 4)) sign(fields);
  const written = write(type, fields);
  return chance.happens(risk / 3) ? { ...written, content: damaged(chance, written.content) } : written;
}

/** What a right request has in place of the values of the sample. */
function rightFields(path: string, { chance, name, payments, service }: Scene): Record<string, unknown> {
  const { id, reference, tokens } = payments[channelOf(path)];
  const other = `${name}-${chance.below(1_000)}`;
  const attempt = chance.pick([1, 1, 2, 9]);
  const callback = { callback_url: `${service.sandboxUrl}/merchant/callback` };
  // A receipt that is sent takes as long as fifty pages.
  const email = chance.happens(0.8) && { email: '' };
  if (path === '/api/v1/users') return { email: `${other}@agency.example` };
  if (path === '/generic/request') return { trans_id: reference, ...callback, ...email };
  if (path === '/landreg/request') return { transaksi_id: reference, ...(email && { extra: {} }) };
  if (path === '/generic/test-callback') return callback;
  if (path === '/generic/simulate')
    return { trans_id: other, send: chance.pick(['json', 'page', 'nothing']), ...callback, ...email };
  if (path.includes('/receipt/')) return { token: tokens.receipt };
  if (path.includes('/pay/')) return { token: tokens.pay, ...(chance.happens(0.2) && { cancel: '1' }) };
  return {
    TRANS_ID: id,
    STATUS: chance.pick(['1', '1', '1', '0', '2', '3']),
    MERCHANT_CODE: channelOf(path) === 'landreg' ? 'ptgnm-app' : 'demo-app',
    MERCHANT_ORDER_NO: `${id}-${attempt}`,
    PAYMENT_TRANS_ID: `F${attempt}`,
    RECEIPT_NO: `R${attempt}`,
  };
}

/** `ledger verify` rightly reports a number that two payments share: each begins with the id of its payment. */
function sign(fields: Record<string, unknown>): void {
  const numbers = Object.keys(fields).filter((name) => /^(payment_trans_id|receipt_no)$/i.test(name));
  for (const name of numbers) fields[name] = `${fields.TRANS_ID}${textOf(fields[name])}`;
  fields.CHECKSUM = checksumOf(Object.fromEntries(texts(fields)), gatewaySecret);
}

const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
const texts = (fields: object) =>
  Object.entries(fields).map(([name, value]): [string, string] => [name.toWellFormed(), textOf(value)]);

function write(type: string, fields: object): { type: string; content: string } {
  if (type === 'application/json') return { type, content: JSON.stringify(fields) };
  if (type !== 'multipart/form-data') return { type, content: String(new URLSearchParams(texts(fields))) };
  const parts = texts(fields).map(([name, value]) => `${part}"${name}"\r\n\r\n${value}\r\n`);
  return { type: `${type}; boundary=boundary`, content: `${parts.join('')}--boundary--\r\n` };
}

const part = '--boundary\r\nContent-Disposition: form-data; name=';

/** What no writer of forms or JSON would send. */
function damaged(chance: Chance, right: string): string | Buffer {
  const at = chance.below(right.length);
  const [before, after] = [right.slice(0, at), right.slice(at)];
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const flood = chance.pick('[ {"a": & a=1& = % 9 x'.split(' ')).repeat(chance.pick([2_000, 10_000, 70_000]));
  const odd = '|null|[]|"text"|1|{"__proto__":{"a":1}}|a[__proto__][b]=1|%|--boundary'.split('|');
  const upload = `${part}"f"; filename="a"\r\n\r\nfile\r\n--boundary--`;
  const changed = [
    before,
    `${before}\0${after}`,
    `\ufeff${right}`,
    right + right,
    Buffer.from(right, 'utf16le'),
  ];
  return chance.pick([...changed, ...odd, deep, deep, flood, flood, flood, upload, chance.bytes(200)]);
}
