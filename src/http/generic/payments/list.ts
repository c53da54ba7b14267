/** GET /generic/payments: a merchant's own payments, the latest first, a page at a time. Decision 48. */
import { reasonWithoutValues } from '@ledger/postgres/error-codes.ts';
import { enums, type Infer, object, optional, pattern, refine, string, validate } from 'superstruct';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { readSpan } from '../../../common/malaysian-time.ts';
import { readAmount } from '../../../common/money.ts';
import { unopened } from '../../../events/open-payment.ts';
import { standingsByCode } from '../../../receipts/payment-fields.ts';
import type { PaymentChannel } from '../../pay/channel.ts';
import { unlessUnknown } from '../../pay/load-payment.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import type { FromMerchant } from '../authenticate.ts';
import { presentPayment } from './own-payment.ts';

const dayOrTime = refine(string(), 'day or time', (text) => readSpan(text) !== null);

/** Unknown parameters are refused: with a misspelt filter, the answer would hold every payment. */
const Query = object({
  status: optional(enums(['0', '1', '2', '3'])),
  trans_id: optional(string()),
  amount: optional(pattern(string(), /^\d{1,9}(\.\d{1,2})?$/)),
  from: optional(dayOrTime),
  to: optional(dayOrTime),
  limit: optional(pattern(string(), /^([1-9]\d?|100)$/)),
  starting_after: optional(pattern(string(), transactionIdPattern)),
});

/** Nothing in it is about the payer: the personal data are not opened. */
export async function listPayments(ctx: Context<FromMerchant>, channel: PaymentChannel): Promise<void> {
  const { config, findOfMerchant, log, readPayment } = channel;
  const { merchant, spend } = ctx.state;
  await spend('lists', merchant.code);
  const [fault, query] = validate({ ...ctx.query }, Query);
  if (fault) throw invalid(fault.key);
  const page = { limit: Number(query.limit ?? 50), after: query.starting_after ?? null };
  const found = await findOfMerchant(filterOf(merchant.code, query), page).catch((error: unknown) => {
    log.warn({ reason: reasonWithoutValues(error) }, 'a list cannot be read from Postgres');
    throw new HttpProblem(503, 'The list cannot be read at the moment; try again in a few seconds');
  });
  if (!found) throw invalid('starting_after');
  if (found.nextAfter !== null) {
    const next = new URLSearchParams(ctx.querystring);
    next.set('starting_after', found.nextAfter);
    ctx.set('Link', `<${config.baseUrl}/generic/payments?${next}>; rel="next"`);
  }
  const payments = await Promise.all(
    found.rows.map(({ transactionId, state }) => state ?? unlessUnknown(readPayment(transactionId))),
  );
  // No MAC covers the columns, so somebody may have changed whose payment a row is.
  const data = payments.flatMap((each) =>
    each?.request.merchant.code === merchant.code ? [presentPayment(unopened(each))] : [],
  );
  ctx.body = { status: true, message: `${data.length} of your payments, the latest first`, data };
}

function filterOf(merchantCode: string, query: Infer<typeof Query>) {
  const { amount, from = '1970-01-01', status, to = '2099-12-31', trans_id: reference = null } = query;
  const requested = { start: readSpan(from)?.start ?? '', end: readSpan(to)?.end ?? '' };
  const statuses = status === undefined ? [] : standingsByCode(status);
  const amountSen = amount === undefined ? null : readAmount(amount);
  return { merchantCode, reference, statuses, amountSen, requested };
}

function invalid(name: unknown): HttpProblem {
  const names = Object.keys(Query.schema);
  if (names.some((each) => each === name)) return new HttpProblem(400, `${name} is not valid`);
  return new HttpProblem(400, `The query may only have ${names.join(', ')}`);
}
