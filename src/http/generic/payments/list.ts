/** GET /generic/payments: a merchant's own payments, the latest first, a page at a time. Decision 48. */

import { readSpan } from '../../../common/malaysian-time.ts';
import { parseAmount, type Sen } from '../../../common/money.ts';
import { unopened } from '../../../events/open-payment.ts';
import type { MerchantFilter } from '../../../projections/payments/queries.ts';
import { standingsByCode } from '../../../receipts/payment-fields.ts';
import type { ChannelDependencies } from '../../pay/dependencies.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import type { FromMerchant } from '../authenticate.ts';
import { presentPayment } from './own-payment.ts';

const names = ['status', 'trans_id', 'amount', 'from', 'to', 'limit', 'starting_after'] as const;
type Query = Partial<Record<(typeof names)[number], string>>;

const maxPageSize = 100;

/** Nothing in it is about the payer: the personal data are not opened. */
export function createListPayments({ config, findOfMerchant, log, readPayment }: ChannelDependencies) {
  return async (ctx: Context<FromMerchant>): Promise<void> => {
    const { merchant, spend } = ctx.state;
    await spend('lists', merchant.code);
    const query = readQuery(ctx.query);
    const filter = { merchantCode: merchant.code, ...readFilter(query, config.maxAmountSen) };
    const page = { limit: readLimit(query), after: query.starting_after ?? null };
    const found = await findOfMerchant(filter, page).catch((error: unknown) => {
      log.warn({ err: error }, 'a list cannot be read from Postgres');
      throw new HttpProblem(503, 'The list cannot be read at the moment; try again in a few seconds');
    });
    if (!found) throw invalid('starting_after must be the transaction_id of one of your payments');
    const { nextAfter, rows } = found;
    if (nextAfter !== null) {
      const next = new URLSearchParams({ ...query, starting_after: nextAfter });
      ctx.set('Link', `<${config.baseUrl}/generic/payments?${next}>; rel="next"`);
    }
    const data = await Promise.all(
      rows.map(async ({ transactionId, state }) => {
        const payment = state ?? (await readPayment(transactionId)).payment;
        return presentPayment(unopened(payment));
      }),
    );
    ctx.body = { status: true, message: `${data.length} of your payments, the latest first`, data };
  };
}

/** Refuses what it does not know: a filter that is misspelt would answer with every payment. */
function readQuery(query: Context['query']): Query {
  const isKnown = Object.entries(query).every(
    ([name, value]) => names.some((each) => each === name) && typeof value === 'string',
  );
  if (!isKnown) throw invalid(`The query may have ${names.join(', ')}, each once`);
  return { ...query };
}

function readFilter(
  { status, trans_id, amount, from = '1970-01-01', to = '2099-12-31' }: Query,
  maxAmountSen: Sen,
): Omit<MerchantFilter, 'merchantCode'> {
  const statuses = status === undefined ? [] : standingsByCode(status);
  if (status !== undefined && statuses.length === 0) throw invalid('status must be 0, 1, 2 or 3');
  const amountSen = amount === undefined ? null : parseAmount(amount, maxAmountSen);
  if (typeof amountSen === 'string') throw invalid('amount must be an amount in RM such as 120.50');
  const [first, last] = [readSpan(from), readSpan(to)];
  if (!first || !last)
    throw invalid('from and to must be days such as 2026-11-20, or times such as 2026-11-20T14:00:00Z');
  return {
    reference: trans_id ?? null,
    statuses,
    amountSen,
    requested: { start: first.start, end: last.end },
  };
}

function readLimit({ limit = '50' }: Query): number {
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > maxPageSize)
    throw invalid(`limit must be a whole number from 1 to ${maxPageSize}`);
  return Number(limit);
}

const invalid = (message: string) => new HttpProblem(400, message);
