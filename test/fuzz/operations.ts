// Requests of the operations of /openapi.json: right ones from its samples and schemas, and ones with faults in any part.
import { checksumOf } from '../../packages/sandbox/checksum.ts';
import type { DescribedOperation, Description } from '../conformance/answers.ts';
import type { Chance } from './chance.ts';
import type { Call } from './client.ts';
import { channelOf, type Scene } from './scene.ts';
import { apiKey, gatewaySecret, type Service } from './service.ts';
import { allowed, mutatedFields, mutatedText, oddTexts, type Schema } from './values.ts';

export type Operation = { path: string; method: string; described: DescribedOperation };
export type RequestContext = { service: Service; description: Description };

export function operationsOf({ paths }: Description): Operation[] {
  return Object.entries(paths).flatMap(([path, group]) =>
    Object.entries(group).map(([method, described]) => ({ path, method, described })),
  );
}

const credentials: Readonly<Record<string, Record<string, string>>> = {
  apiKey: { authorization: `Bearer ${apiKey}` },
  merchantKey: { authorization: 'Bearer demo-key', 'x-merchant-code': 'demo-app' },
  landregKey: { authorization: 'Bearer landreg-key' },
};

/** A request of the operation; each part of it is wrong with the probability `risk`. */
export function callOf(operation: Operation, scene: Scene, risk: number, context: RequestContext): Call {
  const { chance } = scene;
  const { path, method, described } = operation;
  scene.count += 1;
  const text = (right: string) => (chance.happens(risk) ? mutatedText(chance, right) : right).toWellFormed();
  const pathname = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(text(rightParameter(path, name, scene)).slice(0, 500)),
  );
  const link = chance.happens(0.5) ? scene.links.get(pathname) : undefined;
  const query = link ?? String(queryOf(operation, scene, risk));
  const [scheme = ''] = Object.keys(described.security[0] ?? {});
  const presented = link || chance.happens(risk / 3) ? {} : (credentials[scheme] ?? {});
  const odd = 'accept accept-language x-request-id x-forwarded-for host cookie origin referer range'.split(
    ' ',
  );
  const body = bodyOf(operation, scene, risk, context);
  const headers = {
    ...Object.fromEntries(Object.entries(presented).map(([name, value]) => [name, text(value)])),
    accept: chance.pick(['application/json', 'application/json', 'text/html', '*/*', 'image/png']),
    ...(body && { 'content-type': chance.happens(risk / 3) ? chance.pick(oddTypes) : body.type }),
    ...(chance.happens(risk) && {
      [chance.pick(odd)]: mutatedText(chance, chance.pick(['*', 'ms;q=0.5', 'a=b'])),
    }),
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

const oddTypes =
  'text/plain|application/xml|multipart/form-data||a/b; charset=utf-7|application/json; charset=utf-16|application/json|\
application/x-www-form-urlencoded|__proto__'.split('|');

function rightParameter(path: string, name: string, { payments, userId }: Scene): string {
  const { id, reference } = payments[channelOf(path)];
  if (name === 'transaksi_id') return reference;
  return path.startsWith('/api') ? userId : id;
}

function queryOf({ path, described }: Operation, scene: Scene, risk: number): URLSearchParams {
  const { chance } = scene;
  const query = new URLSearchParams();
  const add = (name: string, right: string) => {
    const value = chance.happens(risk) ? mutatedText(chance, right) : right;
    query.append(name.toWellFormed(), value.toWellFormed().slice(0, 100));
  };
  for (const { in: place, name, schema = {} } of (described.parameters ?? []) as Parameter[]) {
    if (place !== 'query' || chance.happens(0.5)) continue;
    add(
      name,
      name === 'TRANS_ID' ? rightParameter(path, name, scene) : String(allowed(chance, schema) ?? ''),
    );
    if (chance.happens(risk / 4)) add(name, 'again');
  }
  if (chance.happens(risk / 3)) add(chance.pick([...oddTexts, 'STATUS', 'AMOUNT', 'sig', 'look']), '1');
  return query;
}

type Parameter = { in: string; name: string; schema?: Schema };
type Body = { type: string; content: string | Buffer };

function bodyOf(
  { path, described }: Operation,
  scene: Scene,
  risk: number,
  context: RequestContext,
): Body | null {
  const { chance } = scene;
  const types = Object.entries(described.requestBody?.content ?? {});
  if (types.length === 0)
    return chance.happens(risk / 4) ? { type: chance.pick(oddTypes), content: damaged(chance, '{}') } : null;
  const [type, { example, schema }] = chance.pick(types) as [string, { example: object; schema: Schema }];
  const named = context.description.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] as
    | Schema
    | undefined;
  const { properties = {} } = named ?? schema;
  const chosen = Object.entries(properties)
    .filter(() => chance.happens(risk / 2))
    .map(([name, property]) => [name, allowed(chance, property)] as const)
    .filter(([, value]) => value !== undefined);
  const right = { ...example, ...Object.fromEntries(chosen), ...rightFields(path, scene, context) };
  const fields = chance.happens(risk) ? mutatedFields(chance, right) : right;
  if (path.endsWith('/response') && !chance.happens(risk / 4)) sign(fields);
  const { content, ...written } = write(type, fields);
  return { ...written, content: chance.happens(risk / 3) ? damaged(chance, content) : content };
}

function rightFields(path: string, scene: Scene, { service }: RequestContext): Record<string, unknown> {
  const { chance, count, name, payments } = scene;
  const { id, reference, tokens } = payments[channelOf(path)];
  const callback = { callback_url: `${service.sandboxUrl}/merchant/callback` };
  const attempt = chance.pick([1, 1, 2, 9]);
  if (path === '/api/v1/users') return { email: `${name}-${count}@agency.example` };
  if (path === '/generic/request')
    return { trans_id: reference, ...callback, ...(chance.happens(0.8) && { email: '' }) };
  if (path === '/landreg/request') return { transaksi_id: reference };
  if (path === '/generic/simulate')
    return { trans_id: `S-${name}-${count}`, send: chance.pick(['json', 'page', 'nothing']), ...callback };
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

/** A number that two payments shared would be reported by `ledger verify`, rightly: each begins with its payment's id. */
function sign(fields: Record<string, unknown>): void {
  for (const name of Object.keys(fields))
    if (/^(payment_trans_id|receipt_no)$/i.test(name))
      fields[name] = `${fields.TRANS_ID}${textOf(fields[name])}`;
  fields.CHECKSUM = checksumOf(Object.fromEntries(texts(fields)), gatewaySecret);
}

const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
const texts = (fields: object) =>
  Object.entries(fields).map(([name, value]): [string, string] => [name.toWellFormed(), textOf(value)]);

function write(type: string, fields: object): { type: string; content: string } {
  if (type === 'application/json') return { type, content: JSON.stringify(fields) };
  if (type !== 'multipart/form-data') return { type, content: String(new URLSearchParams(texts(fields))) };
  const head = 'Content-Disposition: form-data; name=';
  const parts = texts(fields).map(([name, value]) => `--boundary\r\n${head}"${name}"\r\n\r\n${value}\r\n`);
  return { type: `${type}; boundary=boundary`, content: `${parts.join('')}--boundary--\r\n` };
}

const file =
  '--boundary\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nfile\r\n--boundary--';
const manyNames = JSON.stringify(
  Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, index])),
);

/** What no writer of forms or JSON would send. */
function damaged(chance: Chance, right: string): string | Buffer {
  const at = chance.below(right.length);
  const [before, after] = [right.slice(0, at), right.slice(at)];
  const deep = [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, '['.repeat(30_000), '{"a":'.repeat(10_000)];
  const long = [
    '&'.repeat(60_000),
    'a=1&'.repeat(15_000),
    '='.repeat(2_000),
    `{"amount":${'9'.repeat(60_000)}}`,
  ];
  const tooLong = ['x'.repeat(70_000), `{"a":"${'x'.repeat(70_000)}"}`];
  const odd = '|null|[]|"text"|1|{"__proto__":{"a":1}}|a[__proto__][b]=1|%|--boundary'.split('|');
  const bytes = [
    Buffer.from(right, 'utf16le'),
    Buffer.from(Array.from({ length: 200 }, () => chance.below(256))),
  ];
  const changed = [before, `${before}\0${after}`, `\ufeff${right}`, right + right];
  return chance.pick([...changed, ...bytes, ...odd, ...deep, ...long, ...tooLong, file, manyNames]);
}
