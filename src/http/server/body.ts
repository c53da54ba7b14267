/** Reads request bodies, each within a limit. A body that cannot be read is an HttpProblem. */
import type { IncomingMessage } from 'node:http';
import { parseNumbersAsText } from '@ledger/kernel/numbers-as-text.ts';
import type { Middleware } from 'koa';
import koaBody, { HttpMethodEnum, type KoaBodyMiddlewareOptions } from 'koa-body';
import type { Struct } from 'superstruct';
import { readFields } from '../../commands/fields.ts';
import { type Context, HttpProblem } from './context.ts';
import { bodyProblem } from './errors.ts';

const limitBytes = 64 * 1024;

/** At most this many bodies may arrive at once in this process, to limit the memory that they take. */
const maxBodies = 1_000;
let bodies = 0;

/** Receives one body. Throws HttpProblem 503 while too many others are being received. */
async function receive<Body>(read: () => Promise<Body>): Promise<Body> {
  if (bodies >= maxBodies)
    throw new HttpProblem(503, 'The service is busy at the moment; try again in a few seconds');
  bodies += 1;
  try {
    return await read();
  } finally {
    bodies -= 1;
  }
}

const forms: Partial<KoaBodyMiddlewareOptions> = {
  urlencoded: true,
  formLimit: limitBytes,
  // Names stay as they were sent: a checksum covers brackets and dots, which are never structure.
  queryString: { depth: 0, allowDots: false, parseArrays: false, plainObjects: true },
};

const json: Partial<KoaBodyMiddlewareOptions> = { json: true, jsonLimit: limitBytes, jsonTypes: ['json'] };

export const jsonBody = bodyReader('application/json', json);

export const formBody = bodyReader('application/x-www-form-urlencoded or multipart/form-data', forms);

const anyTypes = 'application/json, application/x-www-form-urlencoded or multipart/form-data';

const anyBody = bodyReader(anyTypes, { ...forms, ...json });
const anyBodyWithItsText = bodyReader(anyTypes, { ...forms, ...json, includeUnparsed: true });

/** Far more than a gateway sends, and one less than the parser of forms reads, so that it is noticed if it leaves some out. */
const maxResultFields = 999;

/** For the gateway, whose encoding is not documented. A number in JSON becomes its text, which is what was signed. */
export const gatewayBody: Middleware = (ctx, next) =>
  anyBodyWithItsText(ctx, () => {
    const { rawBody }: { rawBody?: unknown } = ctx.request;
    if (ctx.is('json') && typeof rawBody === 'string' && rawBody !== '')
      Object.assign(ctx.request, { body: textsOf(rawBody) });
    if (Object.keys(ctx.request.body ?? {}).length > maxResultFields)
      throw new HttpProblem(400, `A result must have at most ${maxResultFields} fields`);
    return next();
  });

/** Throws HttpProblem 400 for thousands of nested lists, on which JSON.parse with a reviver overflows the stack. */
function textsOf(json: string): unknown {
  try {
    return parseNumbersAsText(json);
  } catch (error) {
    throw bodyProblem(error instanceof Error ? error : new Error());
  }
}

/** For GET /generic/check, whose Content-Type is optional. */
export const checkBody: Middleware = (ctx, next) => {
  ctx.req.headers['content-type'] ??= 'application/json';
  return anyBody(ctx, next);
};

/** Koa middleware: reads the fields of the body into `ctx.state.body`. Throws InvalidFields. */
export function validate<T>(struct: Struct<T, unknown>): Middleware {
  return (ctx, next) => {
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

function bodyReader(types: string, options: Partial<KoaBodyMiddlewareOptions>): Middleware {
  const read = koaBody({
    json: false,
    text: false,
    urlencoded: false,
    multipart: false,
    ...options,
    // A body on GET is unusual, but documented for GET /generic/check.
    parsedMethods: [HttpMethodEnum.GET, HttpMethodEnum.POST],
    onError(error) {
      throw bodyProblem(error);
    },
  });
  return async (ctx, next) => {
    if (options.urlencoded && ctx.is('multipart/form-data')) {
      ctx.request.body = await readMultipart(ctx.req);
      return next();
    }
    await receive(() => read(ctx, async () => {}));
    const hasBody = ctx.get('Transfer-Encoding') !== '' || (ctx.request.length ?? 0) > 0;
    if (ctx.request.body === undefined && hasBody)
      throw new HttpProblem(415, `The Content-Type must be ${types}`);
    return next();
  };
}

/** Replaces koa-body's, which limits the fields only and accepts files of any size. */
async function readMultipart(request: IncomingMessage): Promise<Record<string, string | string[]>> {
  const form = await readFormData(request, limitBytes);
  const fields = Map.groupBy(form, ([name]) => name);
  return Object.fromEntries(
    Array.from(fields, ([name, values]) => {
      const [first = '', ...more] = values.map(([, value]) => textOf(value));
      return [name, more.length > 0 ? [first, ...more] : first];
    }),
  );
}

/** A form with its files, held in memory. Throws HttpProblem. */
export async function readFormData(request: IncomingMessage, maxBytes: number): Promise<FormData> {
  const bytes = await receive(() => readLimited(request, maxBytes));
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return await new Response(bytes, { headers }).formData().catch((error) => {
    throw bodyProblem(error);
  });
}

function textOf(value: string | Blob): string {
  if (typeof value === 'string') return value;
  throw new HttpProblem(400, 'Files are not taken');
}

/** Refuses a body whose announced length is too large before reading any of it, and any other once it grows too large. */
async function readLimited(request: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => bodyProblem(Object.assign(new Error(), { status: 413 }));
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // The request is not destroyed, because the refusal is sent on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
