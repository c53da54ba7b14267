/** Finds a payment's events by what auditors have in hand: its id, or the reference that a merchant gave it. */
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
 * Finds every payment that `named` may mean; none when there is no such payment. A reference leads to an id without any
 * database, but only for merchants whose code is known: `merchantCodes` are those that are configured, or the one that
 * is asked for. Throws EventStoreUnavailable.
 */
export async function findHistories(
  named: string,
  {
    eventStore,
    transactionIdKey,
    merchantCodes,
  }: {
    eventStore: Pick<EventStore, 'load'>;
    transactionIdKey: string;
    merchantCodes: readonly string[];
  },
): Promise<FoundHistory[]> {
  const ids = [
    ...(transactionIdPattern.test(named) ? [named] : []),
    ...merchantCodes.map((code) => transactionIdOf(transactionIdKey, 'generic', code, named)),
    landregTransactionId(transactionIdKey, named),
  ];
  const streams = await Promise.all(ids.map((id) => eventStore.load(paymentStream(id))));
  return streams.flatMap((events, index) => found(ids[index] ?? '', events));
}

function found(transactionId: string, events: readonly RecordedEvent[]): FoundHistory[] {
  if (events.length === 0) return [];
  const history = historyOf(events);
  const state = history.entries.at(-1)?.state;
  const merchantCode = state && state.status !== 'none' ? state.request.merchant.code : '';
  return [{ transactionId, merchantCode, ...history }];
}
