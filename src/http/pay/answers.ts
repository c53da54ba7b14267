/** The bodies that both payment channels answer, as structs whose types are those of the handlers; content/openapi describes the fields. */
import { enums, literal, object, optional, refine, type Struct, string } from 'superstruct';
import { resolutions } from '../../events/recorded-result.ts';
import { withJsonSchema } from '../../kernel/with-json-schema.ts';
import type { PaymentFields } from '../../receipts/payment-fields.ts';
import { id, matching, time } from '../server/openapi/structs.ts';

export const amount = matching(/^\d+\.\d{2}$/);
const statusCode = enums(['0', '1', '2', '3']);
const url = withJsonSchema(
  refine(string(), 'url', (value) => URL.canParse(value)),
  { type: 'string', format: 'uri' },
);

/** Of the payment interfaces; requery says `success` where the others say `status`. */
export const refusal = object({ status: literal(false), message: string() });
export const requeryRefusal = object({ success: literal(false), message: string() });

const fields = {
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
  gateway_transaction_no: string(),
  seller_order_no: string(),
  merchant_code: string(),
  description: string(),
  service: string(),
  amount_received: matching(/^(\d+\.\d{2})?$/),
  status_detail: enums([
    '',
    'partly_paid',
    'wrong_amount',
    ...resolutions.map((each) => `wrong_amount_${each}` as const),
  ]),
};
/** Only for merchants that are told of adjustments. */
const adjusted = {
  amount_refunded: optional(amount),
  reversed_datetime: optional(withJsonSchema(string(), { type: 'string' })),
};
export const paymentFields: Struct<PaymentFields, unknown> = object(fields);

export const paymentStarted = object({
  status: literal(true),
  message: string(),
  data: object({
    transaction_id: id,
    payment_url: url,
    status: statusCode,
  }),
});

export const requeryAnswer = object({
  success: literal(true),
  data: object({
    ...fields,
    ...adjusted,
    as_at: optional(time),
  }),
  message: string(),
});
