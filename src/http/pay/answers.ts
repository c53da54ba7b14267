/** The bodies that both payment channels answer, as structs whose types are those of the handlers. */
import { enums, literal, object, refine, type Struct, string } from 'superstruct';
import { withJsonSchema } from '../../kernel/with-json-schema.ts';
import type { PaymentFields } from '../../receipts/payment-fields.ts';
import { describeFields, id, matching } from '../server/openapi/structs.ts';

export const amount = matching(/^\d+\.\d{2}$/);
const statusCode = enums(['0', '1', '2', '3']);
const url = withJsonSchema(
  refine(string(), 'url', (value) => URL.canParse(value)),
  { type: 'string', format: 'uri' },
);

/** Of the payment interfaces; requery says `success` where the others say `status`. */
export const refusal = object({ status: literal(false), message: string() });
export const requeryRefusal = object({ success: literal(false), message: string() });

const bareFields: Struct<PaymentFields, unknown> = object({
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

export const paymentFields = describeFields(bareFields, {
  transaction_id: 'Transaction id of the service',
  trans_id: 'The merchant’s own reference',
  status: '0 failed, 1 success, 2 cancelled, 3 pending',
  payment_status: 'The status in words',
  receipt_no: 'Empty unless the payment succeeded',
  payment_datetime: 'YYYY-MM-DD HH:mm:ss, Malaysian time',
  buyer_name: 'Name of the payer',
  amount: 'Total that the payer pays, in RM',
  payment_mode: 'The payment method in words',
  fpx_charge: 'The fee included in the amount, in RM',
  buyer_bank: 'The payer’s bank',
  fpx_transaction_no: 'The gateway’s own number',
  seller_order_no: 'Number of the payment attempt',
  merchant_code: 'Who is paid',
  description: 'What the payment is for',
  service: 'Name of the service',
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
