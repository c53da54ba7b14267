/** The bodies that /api/v1 answers, as structs: they document it, and every answer is checked against them. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { emailPattern } from '@ledger/kernel/email-address.ts';
import { type JsonSchema, withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { enums, type Infer, integer, min, object, pattern, type Struct, string, validate } from 'superstruct';
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { projectStatuses } from '../../events/project.ts';
import { type Account, roles } from '../../events/user.ts';
import type { Context } from '../server/context.ts';

const matching = (regex: RegExp, keywords: JsonSchema = {}): Struct<string, unknown> =>
  withJsonSchema(pattern(string(), regex), { type: 'string', ...keywords, pattern: regex.source });

/** ISO 8601, in Malaysia. */
const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/, { format: 'date-time' });
const id = matching(derivedIdPattern);

export const Health = object({
  status: enums(['ok', 'degraded', 'error']),
  version: string(),
  timestamp: time,
  runtime: string(),
});

export const User = object({
  id,
  name: string(),
  email: matching(emailPattern, { format: 'email' }),
  role: enums(roles),
  createdAt: time,
});

export function presentUser({ id, name, email, role, createdAt }: Account): Infer<typeof User> {
  return { id, name, email, role, createdAt: toIsoWithOffset(createdAt) };
}

export const Project = object({
  id,
  name: string(),
  status: enums(projectStatuses),
  stars: withJsonSchema(min(integer(), 0), { type: 'integer', minimum: 0 }),
});

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
  'rate_limited',
  'internal_error',
  'unavailable',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

export const ErrorResponse = object({ code: enums(errorCodes), message: string() });

/** Answers with a body that matches its struct. Throws on any other body, naming where it differs but no value. */
export function answer<T>(ctx: Context, struct: Struct<T, unknown>, body: T): void {
  const [fault] = validate(body, struct);
  if (fault)
    throw new Error(`The answer to ${ctx.method} ${ctx._matchedRoute} is wrong at "${fault.path.join('.')}"`);
  ctx.body = body;
}
