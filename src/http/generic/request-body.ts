/** The body of POST /generic/request, field by field. */
import type { Infer } from 'superstruct';
import type { Merchant } from '../../config/merchants.ts';
import type { Sen } from '../../kernel/money.ts';
import { maskable } from '../../kernel/structs.ts';
import {
  amount,
  checkRedirectHost,
  email,
  extra,
  optional,
  readFields,
  reference,
  required,
  url,
} from '../pay/request-fields.ts';

export type RequestBody = Infer<ReturnType<typeof bodyStruct>>;

/**
 * Makes the function that reads a request body. It masks fields it does not know, fills optional ones with `''`
 * (extra: `{}`), and throws HttpProblem 400 naming every field at fault, never a value.
 */
export function createReadBody(config: { maxAmountSen: Sen; production: boolean }) {
  const struct = bodyStruct(config);
  return (body: unknown, merchant: Pick<Merchant, 'redirectHosts'>): RequestBody => {
    const read = readFields(body, struct);
    checkRedirectHost('redirect_url', read.redirect_url, merchant);
    return read;
  };
}

export function bodyStruct({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  return maskable({
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
}
