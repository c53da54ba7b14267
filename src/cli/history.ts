/** `ledger history`: what happened to a payment, event by event, and whether anybody has changed it since. */
import { isConnectionFailure } from '@ledger/postgres/error-codes.ts';
import { PostgresUnavailable } from '@ledger/postgres/requirements.ts';
import { entriesUntil, historyOf, readUntil } from '../audit/history/history.ts';
import { forTerminal, historyText } from '../audit/history/text.ts';
import { Refused } from '../commands/decider.ts';
import { landregTransactionId, transactionIdOf, transactionIdPattern } from '../commands/transaction-id.ts';
import { merchantCodeOf } from '../config/merchants.ts';
import { paymentStream, requestedIn } from '../events/payment.ts';
import { type PaymentFilter, searchPayments } from '../projections/payments/search.ts';
import { type CommandOf, readArgument } from './command.ts';
import { type Context, withStores } from './stores.ts';

/** More are not listed. */
const mostFound = 20;
export const needs = {
  uses: ['merchants', 'transactionIdKey'],
  onlyReads: true,
  needs: ['eventStore'],
} as const;

export const command: CommandOf<'history'> = async ({ at, revision, merchant }, args) => {
  const named = readArgument(args, 'Name one payment, by its id, a reference or a number');
  return await withStores('history', needs, async (context) => {
    const until = readUntil({ at, revision });
    const found = await findHistory(named, merchant, context);
    return {
      data: { ...found, entries: entriesUntil(found, until) },
      text: historyText(found, until),
      exitCode: found.verdict.kind === 'whole' ? 0 : 1,
    };
  });
};

/**
 * Ids are derived from references, which takes the merchant's code and no database: a reference is looked up with the
 * given code, else with every configured one. Only what is no id or reference is searched in the read model: a number of a
 * receipt, of the gateway or of an order, or a part of a reference. A remark then names the payment, because it may not be
 * the one that was meant. Throws Refused when no payment or several match, EventStoreUnavailable, and PostgresUnavailable.
 */
export async function findHistory(
  named: string,
  merchant: string | undefined,
  context: Context<(typeof needs.uses)[number]>,
) {
  const { transactionIdKey, merchants } = context.config;
  const merchantCode = merchant && merchantCodeOf(merchants, merchant);
  const codes = merchantCode === undefined ? [...merchants.keys()] : [merchantCode];
  const ids = [
    ...(transactionIdPattern.test(named) ? [named] : []),
    ...codes.map((code) => transactionIdOf(transactionIdKey, 'generic', code, named)),
    landregTransactionId(transactionIdKey, named),
  ];
  const filter = { named, merchantCode: merchantCode ?? null };
  let found = await loadHistories(ids, merchantCode, context);
  if (found.length === 0)
    found = await loadHistories(await idsOfNumber(filter, context), merchantCode, context);
  const [first, ...others] = found;
  if (!first) throw new Refused('unknown_payment', 'There is no such payment');
  if (others.length === 0) {
    const { reference, transactionId } = first;
    const remark = `Found by a number, or by a part of the reference: ${transactionId}, ${reference} of ${first.merchantCode}.`;
    if (![reference, transactionId].includes(named)) process.stderr.write(`${forTerminal(remark)}\n`);
    return first;
  }
  const list = found.map((each) => `  ${each.transactionId} of ${each.merchantCode}`).join('\n');
  throw new Refused(
    'unknown_payment',
    `Several payments have this reference or number:\n${list}\nChoose one with --merchant or by its id`,
  );
}

async function loadHistories(
  ids: readonly string[],
  merchantCode: string | undefined,
  { eventStore }: Pick<Context, 'eventStore'>,
) {
  const histories = await Promise.all(
    ids.map(async (transactionId) => {
      const { entries, verdict } = historyOf(await eventStore.load(paymentStream(transactionId)));
      const { merchant, reference = '' } = requestedIn(entries.at(-1)?.state)?.request ?? {};
      return { transactionId, merchantCode: merchant?.code ?? '', reference, entries, verdict };
    }),
  );
  return histories.filter(
    (each) => each.entries.length > 0 && (merchantCode ?? each.merchantCode) === each.merchantCode,
  );
}

async function idsOfNumber(filter: PaymentFilter, { db }: Context): Promise<string[]> {
  try {
    const found = await searchPayments(db, filter, { limit: mostFound, after: null });
    return found.map(({ transactionId }) => transactionId);
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    const why = 'PostgreSQL (DATABASE_URL), where other numbers are found, does not answer';
    throw new PostgresUnavailable(`No payment has this id or reference; ${why}`, { cause: error });
  }
}
