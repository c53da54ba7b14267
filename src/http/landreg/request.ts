/** POST /landreg/request: the land registry asks for a payment of up to 20 items to one of its agencies. */
import { landregTransactionId } from '../../commands/transaction-id.ts';
import type { Merchant } from '../../config/merchants.ts';
import type { PaymentRequested } from '../../events/payment.ts';
import type { Sen } from '../../kernel/money.ts';
import type { StartPayment } from '../pay/start-payment.ts';
import type { Context } from '../server/context.ts';
import { createReadBody, type RequestBody } from './request-body.ts';

/** The one thing that all of these payments are for; each item says what it is in particular. */
const service = 'Urusan Tanah';
/** As on the generic channel. */
const maxDescriptionLength = 250;

export function createRequest(dependencies: {
  config: {
    maxAmountSen: Sen;
    production: boolean;
    transactionIdKey: string;
    merchants: ReadonlyMap<string, Merchant>;
  };
  startPayment: StartPayment;
  clock: () => Date;
}) {
  const { clock, config, startPayment } = dependencies;
  const agencies = new Map(
    Array.from(config.merchants.values(), (merchant) => [merchant.branchCode, merchant] as const).filter(
      ([branchCode]) => branchCode !== '',
    ),
  );
  const readBody = createReadBody(config, agencies);

  return async (ctx: Context): Promise<void> => {
    const { body, agency } = readBody(ctx.request.body);
    ctx.state.logFields = { merchant: agency.code };
    const transactionId = landregTransactionId(config.transactionIdKey, body.transaksi_id);
    await startPayment(ctx, requestOf(body, agency, transactionId, clock()), 'land-registry');
  };
}

function requestOf(body: RequestBody, agency: Merchant, transactionId: string, now: Date): PaymentRequested {
  const { extra } = body;
  return {
    at: now.toISOString(),
    transactionId,
    channel: 'landreg',
    merchant: { code: agency.code, id: agency.id, name: agency.name },
    reference: body.transaksi_id,
    amountSen: body.jumlah_bayaran,
    service,
    description: descriptionOf(body),
    items: body.maklumat_bayaran.map((item) => ({
      description: item.urusan,
      titleId: item.id_hakmilik,
      amountSen: item.jumlah_bayaran,
    })),
    payer: {
      name: extra.name,
      email: extra.email,
      icNo: extra.ic_no,
      address1: extra.address,
      address2: '',
      city: extra.city,
      postcode: extra.postcode,
      state: extra.state,
      phoneNo: '',
    },
    callbackUrl: '',
    redirectUrl: body.return_url,
    branchCode: body.kod_cawangan,
    extra: Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== '')),
  };
}

/** What is paid for, each thing once. */
function descriptionOf({ maklumat_bayaran: items }: RequestBody): string {
  const whole = [...new Set(items.map(({ urusan }) => urusan))].join(', ');
  const characters = Array.from(whole);
  if (characters.length <= maxDescriptionLength) return whole;
  return `${characters.slice(0, maxDescriptionLength - 1).join('')}…`;
}
