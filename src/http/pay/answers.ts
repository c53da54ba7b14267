/** The bodies that are answered and sent, as structs whose types are those of the handlers. */
import {
  array,
  enums,
  integer,
  literal,
  min,
  nullable,
  number,
  object,
  pattern,
  refine,
  type Struct,
  string,
} from 'superstruct';
import { type Project, projectStatuses } from '../../events/project.ts';
import { roles, type User } from '../../events/user.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import { emailPattern } from '../../kernel/email-address.ts';
import { type JsonSchema, withJsonSchema } from '../../kernel/with-json-schema.ts';
import type { PaymentFields } from '../../receipts/payment-fields.ts';
import type { Health } from '../api/health.ts';
import { errorCodes } from '../api/problem.ts';

const matching = (regex: RegExp, keywords: JsonSchema = {}): Struct<string, unknown> =>
  withJsonSchema(pattern(string(), regex), { type: 'string', ...keywords, pattern: regex.source });

const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?(?:Z|\+08:00)$/, { format: 'date-time' });
const id = matching(derivedIdPattern);
const email = matching(emailPattern, { format: 'email' });
const amount = matching(/^\d+\.\d{2}$/);
const url = withJsonSchema(
  refine(string(), 'url', (value) => URL.canParse(value)),
  { type: 'string', format: 'uri' },
);
const statusCode = enums(['0', '1', '2', '3']);
const upOrDown = enums(['up', 'down']);

export const health: Struct<Health, unknown> = object({
  status: enums(['ok', 'degraded', 'error']),
  version: string(),
  timestamp: time,
  runtime: string(),
  eventStore: upOrDown,
  postgres: upOrDown,
  projections: array(
    object({
      name: string(),
      status: enums(['ok', 'behind', 'stopped', 'unknown']),
      lagMs: withJsonSchema(nullable(min(number(), 0)), { type: ['number', 'null'], minimum: 0 }),
      fault: withJsonSchema(nullable(string()), { type: ['string', 'null'] }),
    }),
  ),
});

export const user: Struct<User, unknown> = object({
  id,
  name: string(),
  email,
  role: enums(roles),
  createdAt: time,
});

export const project: Struct<Project, unknown> = object({
  id,
  name: string(),
  status: enums(projectStatuses),
  stars: withJsonSchema(min(integer(), 0), { type: 'integer', minimum: 0 }),
});

/** Of /api/v1. */
export const errorResponse = object({ code: enums(errorCodes), message: string() });

/** Of the payment interfaces; requery says `success` where the others say `status`. */
export const refusal = object({ status: literal(false), message: string() });
export const requeryRefusal = object({ success: literal(false), message: string() });

export const paymentFields: Struct<PaymentFields, unknown> = object({
  transaction_id: id,
  trans_id: string(),
  status: statusCode,
  payment_status: string(),
  receipt_no: string(),
  payment_datetime: string(),
  buyer_name: string(),
  amount,
  payment_mode: string(),
  fpx_charge: amount,
  buyer_bank: string(),
  fpx_transaction_no: string(),
  seller_order_no: string(),
  merchant_code: string(),
  description: string(),
  service: string(),
});

export const paymentStarted = object({
  status: literal(true),
  message: string(),
  data: object({
    transaction_id: id,
    payment_url: url,
    status: statusCode,
  }),
});

export const requeryAnswer = object({ success: literal(true), data: paymentFields, message: string() });

export const genericCheck = object({
  status: literal(true),
  message: string(),
  data: object({ merchant_code: string(), timestamp: time, environment: string() }),
});

export const landregCheck = object({
  status: literal(true),
  message: string(),
  data: object({ service: string(), timestamp: time, environment: string() }),
});

/** What the land registry is told of one item. */
export const landRegistryCallback = object({
  accountNo: string(),
  idHakmilik: string(),
  kodCaw: string(),
  resitNo: string(),
  amaun: amount,
  paymentDateTime: matching(/^\d{14}$/),
  paymentType: string(),
  fpxNo: string(),
  transId: id,
  dimasuk: string(),
});
