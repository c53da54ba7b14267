/** The body of POST /generic/request, field by field. */
import type { Infer } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import { maskable } from '../../kernel/structs.ts';
import { amount, email, extra, optional, reference, required, url } from '../pay/request-fields.ts';
import { withDescription } from '../server/openapi/structs.ts';

export type PaymentRequestBody = Infer<ReturnType<typeof paymentRequestBody>>;

/** Optional texts are `''` where they are missing. */
export function paymentRequestBody({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  return maskable({
    trans_id: withDescription(reference, 'The merchant’s own reference: one payment per reference'),
    amount: withDescription(amount(maxAmountSen), 'Amount to pay, in RM'),
    service: withDescription(required(100), 'Name of the service, shown to the payer'),
    description: withDescription(required(250), 'What the payment is for'),
    callback_url: withDescription(url(production), 'Receives every change of status'),
    redirect_url: withDescription(
      url(production),
      'Where the payer goes afterwards; trans_id, transaction_id and status are added to its query',
    ),
    name: withDescription(optional(150), 'Name of the payer'),
    email: withDescription(email, 'Where the receipt is sent; without it no email is sent'),
    ic_no: withDescription(optional(50), 'Identity card or user name of the payer'),
    address_1: withDescription(optional(200), 'Address of the payer'),
    address_2: withDescription(optional(200), 'Second line of the address'),
    city: withDescription(optional(100), 'City of the payer'),
    postcode: withDescription(optional(20), 'Postcode of the payer'),
    state: withDescription(optional(100), 'State of the payer'),
    phone_no: withDescription(optional(30), 'Phone number of the payer'),
    extra: withDescription(extra(), 'Anything else to store with the payment'),
  });
}
