/** What /api/v1 answers when it is no success: `{code, message}`, and nothing else. */

export const errorCodes = [
  'validation_failed',
  'invalid_json',
  'invalid_parameter',
  'email_taken',
  'unauthorized',
  'user_not_found',
  'not_found',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'internal_error',
  'unavailable',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** A refusal by a handler of /api/v1; the message names fields and parameters, never values. */
export class ApiProblem extends Error {
  override name = 'ApiProblem';
  readonly status: number;
  readonly code: ErrorCode;
  constructor(status: number, code: ErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** For what is refused before a handler is reached: of all those, a body that is no JSON is the one with 400. */
const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_json',
  401: 'unauthorized',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'unavailable',
};

export function codeOfStatus(status: number): ErrorCode {
  return codesByStatus[status] ?? 'internal_error';
}

/** Whether errors at this path have the bodies of /api/v1. */
export function isApiPath(path: string): boolean {
  return path.startsWith('/api/') || path === '/openapi.json';
}
