/** Reads request bodies, each within a limit. A body that cannot be read is an HttpProblem. */
import type { IncomingMessage } from 'node:http';
import { parseNumbersAsText } from '@ledger/kernel/numbers-as-text.ts';
import type { Next } from 'koa';
import koaBody, { HttpMethodEnum, type KoaBodyMiddlewareOptions } from 'koa-body';
import type { Struct } from 'superstruct';
import { readFields } from '../../commands/fields.ts';
import { type Context, HttpProblem } from './context.ts';
import { bodyProblem } from './errors.ts';
import { networkOf } from './source-address.ts';

/** Koa middleware that reads the body of a request. Throws HttpProblem. */
export type ReadBody = (ctx: Context, next: Next) => Promise<void>;

const limitBytes = 64 * 1024;

/** What all bodies together may hold while they are received by this process. */
const maxHeldBytes = 64 * 1024 * 1024;
/** A piece of a body takes about this much beside its bytes, which matters where a body is sent byte by byte. */
const pieceBytes = 256;

type Receiving = { network: string; heldBytes: number; end: (problem: HttpProblem) => void };
const receiving = new Set<Receiving>();
let heldBytes = 0;

/**
 * Receives one body. While all bodies together would hold more than `maxHeldBytes`, the address that holds the most loses
 * its largest body: HttpProblem 503. A body that cannot be read is an HttpProblem, too.
 */
async function receive<Body>(ctx: Context, read: () => Promise<Body>): Promise<Body> {
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  const body: Receiving = { network: networkOf(ctx.state.address), heldBytes: 0, end };
  const countPiece = ({ length }: Buffer) => {
    if (!receiving.has(body)) return;
    body.heldBytes += length + pieceBytes;
    heldBytes += length + pieceBytes;
    if (heldBytes > maxHeldBytes) endLargest();
  };
  receiving.add(body);
  ctx.req.on('data', countPiece);
  try {
    return await Promise.race([read(), ended]);
  } catch (error) {
    // What was received would otherwise be held until the rest has arrived.
    if (!receiving.has(body)) ctx.set('Connection', 'close');
    throw bodyProblem(error);
  } finally {
    release(body);
    // The rest of a body that is refused is read and dropped, so that its sender gets to read the answer.
    ctx.req.off('data', countPiece).resume();
  }
}

function release(body: Receiving): void {
  if (receiving.delete(body)) heldBytes -= body.heldBytes;
}

function endLargest(): void {
  const bytesOf = (bodies: readonly Receiving[]) => bodies.reduce((sum, body) => sum + body.heldBytes, 0);
  const [most = []] = [...Map.groupBy(receiving, ({ network }) => network).values()].toSorted(
    (a, b) => bytesOf(b) - bytesOf(a),
  );
  const [largest] = most.toSorted((a, b) => b.heldBytes - a.heldBytes);
  if (!largest) return;
  release(largest);
  largest.end(new HttpProblem(503, 'The service is busy at the moment; try again in a few seconds'));
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
export const gatewayBody: ReadBody = (ctx, next) =>
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
    throw bodyProblem(error);
  }
}

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

function bodyReader(types: string, options: Partial<KoaBodyMiddlewareOptions>): ReadBody {
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
    await receive(ctx, () => read(ctx, async () => {}));
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
    const bytes = await readLimited(ctx.req, maxBytes);
    const headers = { 'content-type': ctx.get('Content-Type') };
    return await new Response(bytes, { headers }).formData();
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
