/** The body of POST /landreg/request, field by field. */
import { array, type Infer, type } from 'superstruct';
import type { Merchant } from '../../config/merchants.ts';
import { addSen, formatSen, type Sen } from '../../kernel/money.ts';
import { maskable } from '../../kernel/structs.ts';
import {
  amount,
  badRequest,
  checkRedirectHost,
  email,
  extraWith,
  isObject,
  notBlank,
  optional,
  readFields,
  reference,
  required,
  url,
  worded,
} from '../pay/request-fields.ts';
import { describeFields } from '../server/openapi/structs.ts';

export type RequestBody = Infer<ReturnType<typeof bodyStruct>>;

const maxItems = 20;

/** What of `extra` is read; it is kept with whatever else is in it. */
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

/**
 * Makes the function that reads a request body, and finds the agency of its branch among `agencies`, by branch code. It
 * masks fields it does not know, fills optional ones with `''`, and throws HttpProblem 400 naming every field at fault.
 */
export function createReadBody(
  config: { maxAmountSen: Sen; production: boolean },
  agencies: ReadonlyMap<string, Merchant>,
) {
  const struct = bodyStruct(config);
  const branches = [...agencies.keys()].toSorted().join(', ');
  return (body: unknown): { body: RequestBody; agency: Merchant } => {
    const read = readFields(body, struct);
    const agency = agencies.get(read.kod_cawangan);
    if (!agency) throw badRequest(`kod_cawangan must be one of ${branches}`);
    checkRedirectHost('return_url', read.return_url, agency);
    const sumSen = addSen(...read.maklumat_bayaran.map((item) => item.jumlah_bayaran));
    if (sumSen !== read.jumlah_bayaran)
      throw badRequest(
        `jumlah_bayaran is ${formatSen(read.jumlah_bayaran)}, but the items of maklumat_bayaran come to ${formatSen(sumSen)}`,
      );
    return { body: read, agency };
  };
}

export function bodyStruct({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  const item = maskable({
    id_hakmilik: optional(50, notBlank),
    urusan: required(100),
    jumlah_bayaran: amount(maxAmountSen),
  });
  const body = maskable({
    kod_cawangan: required(100),
    transaksi_id: reference,
    jumlah_bayaran: amount(maxAmountSen),
    return_url: url(production),
    maklumat_bayaran: worded(array(worded(item, itemFault)), itemsFault, { minItems: 1, maxItems }),
    extra: extraWith(Extra),
  });
  return describeFields(body, {
    kod_cawangan: 'Branch code of the agency that is paid: 00, 01, 02 or 03',
    transaksi_id: 'The land registry’s own reference: one payment per reference',
    jumlah_bayaran: 'Amount to pay, in RM: the sum of the items',
    return_url: 'Where the payer goes afterwards; trans_id, transaction_id and status are added to its query',
    maklumat_bayaran: 'The items: urusan is what is paid for, id_hakmilik the land title',
    extra: 'Details of the payer, and anything else to store with the payment',
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
