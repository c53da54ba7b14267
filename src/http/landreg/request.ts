/** POST /landreg/request: the land registry requests a payment of up to 20 items to one of its agencies. */
import { landregTransactionId } from '../../commands/transaction-id.ts';
import { addSen, formatSen } from '../../common/money.ts';
import type { Merchant } from '../../config/merchants.ts';
import type { RequestDetails } from '../../events/personal-data.ts';
import { checkRedirectHost } from '../pay/request-fields.ts';
import type { StartPayment } from '../pay/start-payment.ts';
import { type Context, HttpProblem } from '../server/context.ts';
import type { PaymentRequestBody } from './request-body.ts';

/** What all these payments are for; each item adds its own purpose. */
const service = 'Urusan Tanah';
/** As on the generic channel. */
const maxDescriptionLength = 250;

export function createRequestPayment(
  { transactionIdKey, merchants }: { transactionIdKey: string; merchants: ReadonlyMap<string, Merchant> },
  startPayment: StartPayment,
) {
  return async (ctx: Context<{ body: PaymentRequestBody }>): Promise<void> => {
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
    await startPayment(ctx, requested, 'land-registry');
  };
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
