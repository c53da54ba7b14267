/** POST /landreg/request: the land registry requests a payment of up to 20 items to one of its agencies. */
import { maskable } from '@ledger/kernel/structs.ts';
import { array, type Infer, type } from 'superstruct';
import { landregTransactionId } from '../../commands/transaction-id.ts';
import { addSen, formatSen, type Sen } from '../../common/money.ts';
import type { Merchant } from '../../config/merchants.ts';
import type { RequestDetails } from '../../events/personal-data.ts';
import type { PaymentChannel } from '../pay/channel.ts';
import {
  amount,
  checkRedirectHost,
  email,
  extraWith,
  notBlank,
  objectFault,
  optional,
  reference,
  required,
  url,
  worded,
} from '../pay/request-fields.ts';
import { startPayment } from '../pay/start-payment.ts';
import { type Context, HttpProblem } from '../server/context.ts';

/** What all these payments are for; each item adds its own purpose. */
const service = 'Urusan Tanah';
/** The same as on the generic channel. */
const maxDescriptionLength = 250;

type PaymentRequestBody = Infer<ReturnType<typeof paymentRequestBody>>;

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
    maklumat_bayaran: worded(array(worded(item, objectFault)), itemsFault, { minItems: 1, maxItems }),
    extra: extraWith(Extra),
  });
}

function itemsFault(value: unknown): string | null {
  if (value === undefined || value === null) return 'is required';
  return Array.isArray(value) && value.length >= 1 && value.length <= maxItems
    ? null
    : `must be a list of 1 to ${maxItems} items`;
}

export async function requestPayment(
  ctx: Context<{ body: PaymentRequestBody }>,
  channel: PaymentChannel,
): Promise<void> {
  const { merchants, transactionIdKey } = channel.config;
  const { body } = ctx.state;
  const agencies = Array.from(merchants.values()).filter(({ branchCode }) => branchCode !== '');
  const agency = checkRequest(body, agencies);
  ctx.state.logFields = { merchant: agency.code };
  const requested = {
    transactionId: landregTransactionId(transactionIdKey, body.transaksi_id),
    merchant: agency,
    reference: body.transaksi_id,
    amountSen: body.jumlah_bayaran,
    service,
    description: descriptionOf(body),
    items: body.maklumat_bayaran.map((item) => ({
      description: item.urusan,
      titleId: item.id_hakmilik,
      amountSen: item.jumlah_bayaran,
    })),
    details: detailsOf(body),
    callbackUrl: '',
    redirectUrl: body.return_url,
    branchCode: body.kod_cawangan,
  };
  await startPayment(ctx, channel, requested, 'land-registry');
}

/** Checks fields against each other; returns the agency of the branch. Throws HttpProblem 400. */
export function checkRequest(body: PaymentRequestBody, agencies: readonly Merchant[]): Merchant {
  const agency = agencies.find(({ branchCode }) => branchCode === body.kod_cawangan);
  if (!agency) {
    const branches = agencies.map(({ branchCode }) => branchCode).toSorted();
    throw new HttpProblem(400, `kod_cawangan must be one of ${branches.join(', ')}`);
  }
  checkRedirectHost('return_url', body.return_url, agency);
  const sumSen = addSen(...body.maklumat_bayaran.map((item) => item.jumlah_bayaran));
  if (sumSen === body.jumlah_bayaran) return agency;
  throw new HttpProblem(
    400,
    `jumlah_bayaran is ${formatSen(body.jumlah_bayaran)}, but the items of maklumat_bayaran come to ${formatSen(sumSen)}`,
  );
}

function detailsOf({ extra }: PaymentRequestBody): RequestDetails {
  const payer = {
    name: extra.name,
    email: extra.email,
    icNo: extra.ic_no,
    address1: extra.address,
    address2: '',
    city: extra.city,
    postcode: extra.postcode,
    state: extra.state,
    phoneNo: '',
  };
  return { payer, extra: Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== '')) };
}

/** The purposes of the items, each once. */
function descriptionOf({ maklumat_bayaran: items }: PaymentRequestBody): string {
  const whole = [...new Set(items.map(({ urusan }) => urusan))].join(', ');
  const characters = Array.from(whole);
  if (characters.length <= maxDescriptionLength) return whole;
  return `${characters.slice(0, maxDescriptionLength - 1).join('')}…`;
}
