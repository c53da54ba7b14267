/** The body of POST /landreg/request, field by field. */
import { maskable } from '@ledger/kernel/structs.ts';
import { array, type Infer, type } from 'superstruct';
import type { Sen } from '../../common/money.ts';
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
    kod_cawangan: required(100),
    transaksi_id: reference,
    jumlah_bayaran: amount(maxAmountSen),
    return_url: url(production),
    maklumat_bayaran: worded(array(worded(item, itemFault)), itemsFault, { minItems: 1, maxItems }),
    extra: extraWith(Extra),
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
