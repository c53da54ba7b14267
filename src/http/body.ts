/** Reads request bodies, each within a limit; what cannot be read is an HttpProblem. */
import type { Middleware, Request } from 'koa';
import koaBody, { HttpMethodEnum, type KoaBodyMiddlewareOptions } from 'koa-body';
import { bodyProblem, HttpProblem } from './errors.ts';

const limitBytes = 64 * 1024;
const maxFields = 200;

const none = { json: false, text: false, urlencoded: false, multipart: false } as const;

const forms: Partial<KoaBodyMiddlewareOptions> = {
  urlencoded: true,
  multipart: true,
  formLimit: limitBytes,
  // Names stay as they were sent: brackets and dots are part of what a checksum covers, never structure.
  queryString: { depth: 0, allowDots: false, parseArrays: false, plainObjects: true },
  formidable: {
    maxFields,
    maxFieldsSize: limitBytes,
    // A part with a type of its own is still a field unless it is a file, and files are not taken.
    onPart(part, take) {
      if (part.originalFilename !== null) return;
      part.mimetype = null;
      take(part);
    },
  },
};

const json: Partial<KoaBodyMiddlewareOptions> = { json: true, jsonLimit: limitBytes, jsonTypes: ['json'] };

/** For POST /generic/request. */
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
  return (ctx, next) =>
    read(ctx, () => {
      if (ctx.request.body === undefined && hasBody(ctx.request))
        throw new HttpProblem(415, 'badRequest', `The Content-Type must be ${types}`);
      return next();
    });
}

function hasBody(request: Request): boolean {
  return request.get('Transfer-Encoding') !== '' || (request.length ?? 0) > 0;
}
