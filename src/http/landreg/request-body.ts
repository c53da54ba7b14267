/** The body of POST /landreg/request, field by field. */
import { array, type Infer, type } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import { maskable } from '../../kernel/structs.ts';
import {
  amount,
  email,
  extraWith,
  isObject,
  notBlank,
  optional,
  reference,
  required,
  url,
  worded,
} from '../pay/request-fields.ts';
import { withDescription } from '../server/openapi/structs.ts';

export type PaymentRequestBody = Infer<ReturnType<typeof paymentRequestBody>>;

const maxItems = 20;

/** The known fields of `extra`, which is stored with its other fields. */
const Extra = type({
  email,
  ic_no: optional(50),
  name: optional(150),
  address: optional(200),
  postcode: optional(20),
  city: optional(100),
  state: optional(100),
  account_no: optional(50),
});

/** Optional texts are `''` where they are missing. */
export function paymentRequestBody({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  const item = maskable({
    id_hakmilik: optional(50, notBlank),
    urusan: required(100),
    jumlah_bayaran: amount(maxAmountSen),
  });
  return maskable({
    kod_cawangan: withDescription(required(100), 'Branch code of the agency that is paid: 00, 01, 02 or 03'),
    transaksi_id: withDescription(reference, 'The land registry’s own reference: one payment per reference'),
    jumlah_bayaran: withDescription(amount(maxAmountSen), 'Amount to pay, in RM: the sum of the items'),
    return_url: withDescription(
      url(production),
      'Where the payer goes afterwards; trans_id, transaction_id and status are added to its query',
    ),
    maklumat_bayaran: withDescription(
      worded(array(worded(item, itemFault)), itemsFault, { minItems: 1, maxItems }),
      'The items: urusan is what is paid for, id_hakmilik the land title',
    ),
    extra: withDescription(
      extraWith(Extra),
      'Details of the payer, and anything else to store with the payment',
    ),
  });
}

function itemsFault(value: unknown): string | null {
  if (value === undefined || value === null) return 'is required';
  return Array.isArray(value) && value.length >= 1 && value.length <= maxItems
    ? null
    : `must be a list of 1 to ${maxItems} items`;
}

function itemFault(value: unknown): string | null {
  return isObject(value) ? null : 'must be an object';
}
