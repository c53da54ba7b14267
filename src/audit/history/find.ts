/** Finds a payment's events by what an auditor has: its id, or the reference that a merchant gave it. */
import { Refused } from '../../commands/decider.ts';
import {
  landregTransactionId,
  transactionIdOf,
  transactionIdPattern,
} from '../../commands/transaction-id.ts';
import { paymentStream } from '../../events/payment.ts';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { type History, historyOf } from './history.ts';

export type FoundHistory = History & { transactionId: string; merchantCode: string };

/**
 * Ids are derived from references, so no database is needed, but the merchant's code is: a reference is looked for with
 * the code given, else with every code that is configured. Throws Refused when there is no such payment or there are
 * several, and EventStoreUnavailable.
 */
export async function findHistory(
  idOrReference: string,
  merchantCode: string | undefined,
  {
    eventStore,
    transactionIdKey,
    merchants,
  }: {
    eventStore: Pick<EventStore, 'load'>;
    transactionIdKey: string;
    merchants: ReadonlyMap<string, unknown>;
  },
): Promise<FoundHistory> {
  const codes = merchantCode === undefined ? [...merchants.keys()] : [merchantCode];
  const ids = [
    ...(transactionIdPattern.test(idOrReference) ? [idOrReference] : []),
    ...codes.map((code) => transactionIdOf(transactionIdKey, 'generic', code, idOrReference)),
    landregTransactionId(transactionIdKey, idOrReference),
  ];
  const streams = await Promise.all(ids.map((id) => eventStore.load(paymentStream(id))));
  const found = streams
    .flatMap((events, index) => (events.length === 0 ? [] : foundHistory(ids[index] ?? '', events)))
    .filter((each) => merchantCode === undefined || each.merchantCode === merchantCode);
  const [first, ...others] = found;
  if (!first) throw new Refused('unknown_payment', 'There is no such payment');
  if (others.length === 0) return first;
  const list = found.map((each) => `  ${each.transactionId} of ${each.merchantCode}`).join('\n');
  throw new Refused(
    'unknown_payment',
    `Several payments have this reference:\n${list}\nChoose one with --merchant or by its id`,
  );
}

function foundHistory(transactionId: string, events: readonly RecordedEvent[]): FoundHistory {
  const history = historyOf(events);
  const state = history.entries.at(-1)?.state;
  const merchantCode = state && state.status !== 'none' ? state.request.merchant.code : '';
  return { transactionId, merchantCode, ...history };
}
