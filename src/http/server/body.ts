/** Reads request bodies, each within a limit; what cannot be read is an HttpProblem. */
import type { IncomingMessage } from 'node:http';
import type { Middleware, Request } from 'koa';
import koaBody, { HttpMethodEnum, type KoaBodyMiddlewareOptions } from 'koa-body';
import { bodyProblem, HttpProblem } from './errors.ts';

const limitBytes = 64 * 1024;

const multipart = 'multipart/form-data';

const none = { json: false, text: false, urlencoded: false, multipart: false } as const;

const forms: Partial<KoaBodyMiddlewareOptions> = {
  urlencoded: true,
  formLimit: limitBytes,
  // Names stay as they were sent: brackets and dots are part of what a checksum covers, never structure.
  queryString: { depth: 0, allowDots: false, parseArrays: false, plainObjects: true },
};

const json: Partial<KoaBodyMiddlewareOptions> = { json: true, jsonLimit: limitBytes, jsonTypes: ['json'] };

/** For requests of payments. */
export const jsonBody = bodyReader('application/json', json);

/** For the payer's form. */
export const formBody = bodyReader('application/x-www-form-urlencoded or multipart/form-data', forms);

/** For the gateway, whose encoding is not documented. */
export const anyBody = bodyReader(
  'application/json, application/x-www-form-urlencoded or multipart/form-data',
  {
    ...forms,
    ...json,
  },
);

/** For GET /generic/check, whose Content-Type is optional. */
export const checkBody: Middleware = (ctx, next) => {
  ctx.req.headers['content-type'] ??= 'application/json';
  return anyBody(ctx, next);
};

function bodyReader(types: string, options: Partial<KoaBodyMiddlewareOptions>): Middleware {
  const read = koaBody({
    ...none,
    ...options,
    // A body on GET is unusual, and documented for GET /generic/check.
    parsedMethods: [HttpMethodEnum.GET, HttpMethodEnum.POST],
    onError(error) {
      throw bodyProblem(error);
    },
  });
  return async (ctx, next) => {
    if (options.urlencoded && ctx.is(multipart)) {
      ctx.request.body = await readMultipart(ctx.req);
      return next();
    }
    return read(ctx, () => {
      if (ctx.request.body === undefined && hasBody(ctx.request))
        throw new HttpProblem(415, `The Content-Type must be ${types}`);
      return next();
    });
  };
}

/** koa-body would count the fields only, and let files of any size pass: the limit is on the whole body. */
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

/** A form with the files in it, all of it in memory and within the limit. Throws HttpProblem. */
export async function readFormData(request: IncomingMessage, maxBytes: number): Promise<FormData> {
  const bytes = await readLimited(request, maxBytes);
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return await new Response(bytes, { headers }).formData().catch((error) => {
    throw bodyProblem(error);
  });
}

function textOf(value: string | Blob): string {
  if (typeof value === 'string') return value;
  throw new HttpProblem(400, 'Files are not taken');
}

/** Refuses what is announced as too large before any of it is read, and the rest once it is. */
async function readLimited(request: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => bodyProblem(Object.assign(new Error(), { status: 413 }));
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // Not destroyed, since the refusal goes out on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function hasBody(request: Request): boolean {
  return request.get('Transfer-Encoding') !== '' || (request.length ?? 0) > 0;
}
