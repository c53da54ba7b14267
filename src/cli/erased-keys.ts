/** The keys that have been destroyed according to the log. */
import { readPaymentEvent } from '../events/codec.ts';
import { paymentStreamPrefix } from '../events/payment.ts';
import type { EventStore } from '../eventstore/event-store.ts';

const batchSize = 1_000;

/** In batches, from the beginning of the log to its end. Throws EventStoreUnavailable and UnreadableEvent. */
export async function* readErasedKeys(eventStore: Pick<EventStore, 'subscribe'>): AsyncGenerator<string[]> {
  const { signal } = new AbortController();
  let batch: string[] = [];
  for await (const message of eventStore.subscribe({
    streamPrefixes: [paymentStreamPrefix],
    after: null,
    signal,
  })) {
    if (message.kind === 'caught_up') break;
    if (message.kind !== 'event' || message.event.type !== 'PersonalDataErased') continue;
    const event = readPaymentEvent(message.event);
    if (event.type === 'PersonalDataErased') batch.push(...event.data.keys);
    if (batch.length >= batchSize) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}
