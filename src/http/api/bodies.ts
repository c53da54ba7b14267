/** The bodies that /api/v1 answers, as structs: they document it, and every answer is checked against them. */
import {
  array,
  enums,
  type Infer,
  integer,
  min,
  nullable,
  number,
  object,
  type Struct,
  string,
  validate,
} from 'superstruct';
import { projectStatuses } from '../../events/project.ts';
import { type Account, roles } from '../../events/user.ts';
import { emailPattern } from '../../kernel/email-address.ts';
import { toIsoWithOffset } from '../../kernel/malaysian-time.ts';
import { withJsonSchema } from '../../kernel/with-json-schema.ts';
import type { Context } from '../server/context.ts';
import { id, matching, time } from '../server/openapi/structs.ts';

/** `disk full`: it reads and does not write. */
const storeStates = enums(['up', 'down', 'disk full']);

export const Health = object({
  status: enums(['ok', 'degraded', 'error']),
  version: string(),
  timestamp: time,
  runtime: string(),
  eventStore: storeStates,
  postgres: storeStates,
  /** Whether the log is sealed: not while it contradicts an earlier seal. `unknown` if PostgreSQL did not answer. */
  seals: enums(['ok', 'refused', 'unknown']),
  projections: array(
    object({
      name: string(),
      /** `unknown` when a store did not answer. */
      status: enums(['ok', 'behind', 'stopped', 'unknown']),
      /** How long the oldest unprocessed event has been waiting; null when that is not known. */
      lagMs: withJsonSchema(nullable(min(number(), 0)), { type: ['number', 'null'], minimum: 0 }),
      /** Only that it has stopped, because everybody can read this: the log says before which event and why. */
      fault: withJsonSchema(nullable(string()), { type: ['string', 'null'] }),
      /** Streams that it leaves out since an event that it could not process. */
      parked: withJsonSchema(min(integer(), 0), { type: 'integer', minimum: 0 }),
    }),
  ),
});
export type Health = Infer<typeof Health>;

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
