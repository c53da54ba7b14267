/** `ledger history`: what happened to a payment, event by event, and whether anybody has changed it since. */
import { entriesUntil, historyOf, readUntil } from '../audit/history/history.ts';
import { historyText } from '../audit/history/text.ts';
import { Refused } from '../commands/decider.ts';
import { landregTransactionId, transactionIdOf, transactionIdPattern } from '../commands/transaction-id.ts';
import { paymentStream } from '../events/payment.ts';
import { type CommandOf, readArgument } from './command.ts';
import { type Context, print, withEventStore } from './stores.ts';

const needs = { uses: ['merchants', 'transactionIdKey'], onlyReads: true } as const;
export const history: CommandOf<'history'> = async ({ at, revision, merchant, json }, args) => {
  const named = readArgument(args, "Name one payment, by its id or by the merchant's reference");
  return await withEventStore('history', needs, async (context) => {
    const until = readUntil({ at, revision });
    const found = await findHistory(named, merchant, context);
    print(
      json
        ? JSON.stringify({ ...found, entries: entriesUntil(found, until) }, null, 2)
        : historyText(found, until),
    );
    return found.verdict.kind === 'whole' ? 0 : 1;
  });
};

/**
 * Ids are derived from references, which takes the merchant's code and no database: a reference is looked up with the
 * given code, else with every configured one. Throws Refused when no payment or several match, and
 * EventStoreUnavailable.
 */
export async function findHistory(
  idOrReference: string,
  merchantCode: string | undefined,
  { eventStore, config: { transactionIdKey, merchants } }: Context<(typeof needs.uses)[number]>,
) {
  const codes = merchantCode === undefined ? [...merchants.keys()] : [merchantCode];
  const ids = [
    ...(transactionIdPattern.test(idOrReference) ? [idOrReference] : []),
    ...codes.map((code) => transactionIdOf(transactionIdKey, 'generic', code, idOrReference)),
    landregTransactionId(transactionIdKey, idOrReference),
  ];
  const histories = await Promise.all(
    ids.map(async (transactionId) => {
      const history = historyOf(await eventStore.load(paymentStream(transactionId)));
      const state = history.entries.at(-1)?.state;
      const code = state && state.status !== 'none' ? state.request.merchant.code : '';
      return { transactionId, merchantCode: code, ...history };
    }),
  );
  const found = histories.filter(
    (each) => each.entries.length > 0 && (merchantCode ?? each.merchantCode) === each.merchantCode,
  );
  const [first, ...others] = found;
  if (!first) throw new Refused('unknown_payment', 'There is no such payment');
  if (others.length === 0) return first;
  const list = found.map((each) => `  ${each.transactionId} of ${each.merchantCode}`).join('\n');
  throw new Refused(
    'unknown_payment',
    `Several payments have this reference:\n${list}\nChoose one with --merchant or by its id`,
  );
}
