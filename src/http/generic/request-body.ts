/** The body of POST /generic/request, field by field. */
import type { Infer } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import { maskable } from '../../kernel/structs.ts';
import { amount, email, extra, optional, reference, required, url } from '../pay/request-fields.ts';
import { describeFields } from '../server/openapi/structs.ts';

export type PaymentRequestBody = Infer<ReturnType<typeof paymentRequestBody>>;

/** Optional texts are `''` where they are missing. */
export function paymentRequestBody({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  const body = maskable({
    trans_id: reference,
    amount: amount(maxAmountSen),
    service: required(100),
    description: required(250),
    callback_url: url(production),
    redirect_url: url(production),
    name: optional(150),
    email,
    ic_no: optional(50),
    address_1: optional(200),
    address_2: optional(200),
    city: optional(100),
    postcode: optional(20),
    state: optional(100),
    phone_no: optional(30),
    extra: extra(),
  });
  return describeFields(body, {
    trans_id: 'The merchant’s own reference: one payment per reference',
    amount: 'Amount to pay, in RM',
    service: 'Name of the service, shown to the payer',
    description: 'What the payment is for',
    callback_url: 'Receives every change of status',
    redirect_url:
      'Where the payer goes afterwards; trans_id, transaction_id and status are added to its query',
    name: 'Name of the payer',
    email: 'Where the receipt is sent; without it no email is sent',
    ic_no: 'Identity card or user name of the payer',
    address_1: 'Address of the payer',
    address_2: 'Second line of the address',
    city: 'City of the payer',
    postcode: 'Postcode of the payer',
    state: 'State of the payer',
    phone_no: 'Phone number of the payer',
    extra: 'Anything else to store with the payment',
  });
}
