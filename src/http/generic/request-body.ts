/** The body of POST /generic/request, field by field. */
import { maskable } from '@ledger/kernel/structs.ts';
import type { Infer } from 'superstruct';
import type { Sen } from '../../common/money.ts';
import { amount, email, extra, moment, optional, reference, required, url } from '../pay/request-fields.ts';

export type PaymentRequestBody = Infer<ReturnType<typeof paymentRequestBody>>;

/** Optional texts are `''` where they are missing. */
export function paymentRequestBody({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  return maskable({
    trans_id: reference,
    amount: amount(maxAmountSen),
    service: required(100),
    description: required(250),
    callback_url: url(production),
    redirect_url: url(production),
    name: optional(150),
    email: email,
    ic_no: optional(50),
    address_1: optional(200),
    address_2: optional(200),
    city: optional(100),
    postcode: optional(20),
    state: optional(100),
    phone_no: optional(30),
    expires_at: moment,
    extra: extra(),
  });
}
