/** Reads request bodies, each within a limit. A body that cannot be read is an HttpProblem. */
import { createByteBudget } from '@ledger/kernel/byte-budget.ts';
import { networkOf } from '@ledger/kernel/network-of.ts';
import { parseNumbersAsText } from '@ledger/kernel/numbers-as-text.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { readAtMost } from '@ledger/kernel/read-at-most.ts';
import type { Next } from 'koa';
import koaBody, { HttpMethodEnum, type KoaBodyMiddlewareOptions } from 'koa-body';
import type { Struct } from 'superstruct';
import { readFields } from '../../commands/fields.ts';
import { windows1252 } from '../../common/windows-1252.ts';
import { type Context, HttpProblem } from './context.ts';
import { bodyProblem } from './errors.ts';

/** Koa middleware that reads the body of a request. Throws HttpProblem. */
export type ReadBody = (ctx: Context, next: Next) => Promise<void>;

const limitBytes = 64 * 1024;

/** What all bodies together may hold while they are received by this process. */
const budget = createByteBudget(64 * 1024 * 1024);
/** A piece of a body takes about this much beside its bytes, which matters where a body is sent byte by byte. */
const pieceBytes = 256;

/** Receives one body. Throws HttpProblem, 503 if the budget is used up and this is the body that it ends. */
async function receive<Body>(ctx: Context, read: () => Promise<Body>): Promise<Body> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const held = budget.open(networkOf(ctx.state.address), () => {
    // What was received would otherwise be held until the rest has arrived.
    ctx.set('Connection', 'close');
    reject(new HttpProblem(503, 'The service is busy at the moment; try again in a few seconds'));
  });
  const countPiece = ({ length }: Buffer) => held.add(length + pieceBytes);
  ctx.req.on('data', countPiece);
  try {
    return await Promise.race([read(), ended]);
  } catch (error) {
    throw bodyProblem(error);
  } finally {
    held.close();
    // The rest of a body that is refused is read and dropped, so that its sender gets to read the answer.
    ctx.req.off('data', countPiece).resume();
  }
}

type Options = Partial<KoaBodyMiddlewareOptions>;

const forms: Options = {
  urlencoded: true,
  formLimit: limitBytes,
  // Names stay as they were sent: a checksum covers brackets and dots, which are never structure.
  queryString: { depth: 0, allowDots: false, parseArrays: false, plainObjects: true, decoder: decodeText },
};

/** What is not UTF-8 is read as Windows-1252, in which older gateways send names. */
function decodeText(sent: string): string {
  const text = sent.replaceAll('+', ' ');
  const letterOf = (hex: string) => windows1252.charAt(Number.parseInt(hex.slice(1), 16));
  return orElse(() => decodeURIComponent(text), null) ?? text.replace(/%[\da-f]{2}/gi, letterOf);
}

const json: Options = { json: true, jsonLimit: limitBytes, jsonTypes: ['json'] };

/** JSON is read as UTF-8. Declared as anything else, a name would be stored with wrong letters. */
function refuseOtherCharsets(ctx: Context): void {
  if (ctx.is('json') && !/^(utf-?8|us-ascii)?$/i.test(ctx.request.charset))
    throw new HttpProblem(415, 'The charset of JSON must be UTF-8');
}

export const jsonBody = bodyReader('application/json', json, refuseOtherCharsets);

export const formBody = bodyReader('application/x-www-form-urlencoded or multipart/form-data', forms);

const anyTypes = 'application/json, application/x-www-form-urlencoded or multipart/form-data';

const anyBody = bodyReader(anyTypes, { ...forms, ...json }, refuseOtherCharsets);

/**
 * For the gateway, whose encoding is not documented. A number in JSON becomes its text, which is what was signed. A name
 * that occurs twice is refused, because `JSON.parse` would keep the last value and nobody could tell. No charset is
 * refused: a result must not be lost.
 */
export const gatewayBody = bodyReader(anyTypes, { ...forms, ...json, includeUnparsed: true }, (ctx) => {
  const { rawBody }: { rawBody?: unknown } = ctx.request;
  if (!ctx.is('json') || typeof rawBody !== 'string' || rawBody === '') return;
  const body = parseNumbersAsText(rawBody);
  // In valid JSON, a text before a colon is a name.
  const names = [...rawBody.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined);
  if (names.length > Object.keys(Object(body)).length)
    throw new HttpProblem(400, 'Every field must be a text, sent once', { kind: 'unusableResult' });
  Object.assign(ctx.request, { body });
});

/** For GET /generic/check, whose Content-Type is optional. */
export const checkBody: ReadBody = (ctx, next) => {
  ctx.req.headers['content-type'] ??= 'application/json';
  return anyBody(ctx, next);
};

/** Koa middleware: reads the fields of the body into `ctx.state.body`. Throws InvalidFields. */
export function validate<T>(struct: Struct<T, unknown>) {
  return (ctx: Context<{ body: T }>, next: Next): Promise<void> => {
    ctx.state.body = readFields(ctx.request.body, struct);
    return next();
  };
}

/** A field of a body that was read; `''` where it is missing, sent twice or not text. */
export function bodyText(ctx: Context, name: string): string {
  const body: unknown = ctx.request.body;
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : '';
  return typeof value === 'string' ? value : '';
}

/** `revise` changes what was read; what it throws means that the body is malformed. */
function bodyReader(types: string, options: Options, revise = (_: Context): void => {}): ReadBody {
  const read = koaBody({
    json: false,
    text: false,
    urlencoded: false,
    multipart: false,
    ...options,
    // A body on GET is unusual, but documented for GET /generic/check.
    parsedMethods: [HttpMethodEnum.GET, HttpMethodEnum.POST],
  });
  return async (ctx, next) => {
    if (options.urlencoded && ctx.is('multipart/form-data')) {
      ctx.request.body = await readMultipart(ctx);
      return next();
    }
    await receive(ctx, () => read(ctx, async () => revise(ctx)));
    const hasBody = ctx.get('Transfer-Encoding') !== '' || (ctx.request.length ?? 0) > 0;
    if (ctx.request.body === undefined && hasBody)
      throw new HttpProblem(415, `The Content-Type must be ${types}`);
    return next();
  };
}

/** Replaces koa-body's, which limits the fields only and accepts files of any size. */
async function readMultipart(ctx: Context): Promise<Record<string, string | string[]>> {
  const form = await readFormData(ctx, limitBytes);
  const fields = Map.groupBy(form, ([name]) => name);
  return Object.fromEntries(
    Array.from(fields, ([name, values]) => {
      const [first = '', ...more] = values.map(([, value]) => textOf(value));
      return [name, more.length > 0 ? [first, ...more] : first];
    }),
  );
}

/** A form with its files, held in memory. Throws HttpProblem. */
export async function readFormData(ctx: Context, maxBytes: number): Promise<FormData> {
  return await receive(ctx, async () => {
    const bytes = ctx.request.length > maxBytes ? null : await readAtMost(ctx.req, maxBytes);
    if (!bytes) throw new HttpProblem(413, 'The request body is too large');
    const headers = { 'content-type': ctx.get('Content-Type') };
    return await new Response(bytes, { headers }).formData();
  });
}

function textOf(value: string | Blob): string {
  if (typeof value === 'string') return value;
  throw new HttpProblem(400, 'Files are not taken');
}
