/** The bodies that both payment channels answer, as structs whose types are those of the handlers. */
import { enums, literal, object, optional, refine, type Struct, string } from 'superstruct';
import { resolutions } from '../../events/recorded-result.ts';
import { withJsonSchema } from '../../kernel/with-json-schema.ts';
import type { PaymentFields } from '../../receipts/payment-fields.ts';
import { id, matching, time, withDescription } from '../server/openapi/structs.ts';

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
  transaction_id: withDescription(id, 'Transaction id of the service'),
  trans_id: withDescription(string(), 'The merchant’s own reference'),
  status: withDescription(statusCode, '0 failed, 1 success, 2 cancelled, 3 pending'),
  payment_status: withDescription(string(), 'The status in words'),
  receipt_no: withDescription(string(), 'Empty unless the payment succeeded'),
  payment_datetime: withDescription(string(), 'YYYY-MM-DD HH:mm:ss, Malaysian time'),
  buyer_name: withDescription(string(), 'Name of the payer'),
  amount: withDescription(amount, 'Total that the payer pays, in RM'),
  payment_mode: withDescription(string(), 'The payment method in words'),
  fpx_charge: withDescription(amount, 'The fee included in the amount, in RM'),
  buyer_bank: withDescription(string(), 'The payer’s bank'),
  fpx_transaction_no: withDescription(string(), 'FPX’s number; empty for other payment methods'),
  gateway_transaction_no: withDescription(string(), 'The gateway’s own number, for every payment method'),
  seller_order_no: withDescription(string(), 'Number of the payment attempt'),
  merchant_code: withDescription(string(), 'Who is paid'),
  description: withDescription(string(), 'What the payment is for'),
  service: withDescription(string(), 'Name of the service'),
  amount_received: withDescription(
    matching(/^(\d+\.\d{2})?$/),
    'What was received instead of `amount`, in RM, while it is not returned; else empty',
  ),
  status_detail: withDescription(
    enums(['', 'partly_paid', 'wrong_amount', ...resolutions.map((each) => `wrong_amount_${each}` as const)]),
    'What became of a wrong amount; empty if there was none, or if the payment is paid',
  ),
};
/** Only for merchants that are told of adjustments. */
const adjusted = {
  amount_refunded: optional(
    withDescription(amount, 'With callback_events or partial_payments: what was refunded, in RM'),
  ),
  reversed_datetime: optional(
    withDescription(string(), 'Likewise: when the bank took it back; empty if it did not'),
  ),
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
    as_at: withDescription(
      optional(time),
      'Only while the event log cannot be read: the time of the last event that is known; there may be later ones',
    ),
  }),
  message: string(),
});
