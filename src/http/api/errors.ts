/** What /api/v1 answers instead of a success: only `{code, message}`. */
import { HttpProblem, type PresentError } from '../server/context.ts';
import { answer, type ErrorCode, ErrorResponse, errorCodes } from './bodies.ts';

export function apiProblem(status: number, code: ErrorCode, message: string): HttpProblem {
  return new HttpProblem(status, message, { code });
}

/** For errors without a code of their own: 400 is then a body that cannot be parsed. */
const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_json',
  401: 'unauthorized',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'unavailable',
};

export const presentApiError: PresentError = (ctx, { status, code, message }) => {
  if (status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  const known = errorCodes.find((each) => each === code);
  answer(ctx, ErrorResponse, { code: known ?? codesByStatus[status] ?? 'internal_error', message });
};

export const isApiPath = (path: string): boolean => path.startsWith('/api/') || path === '/openapi.json';
