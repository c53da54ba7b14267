import { type EventStore, EventStoreUnavailable, type RecordedEvent, type Selection } from './event-store.ts';

type Reading = Omit<Parameters<EventStore['subscribe']>[0], 'signal'> & { signal?: AbortSignal | undefined };

/** The selected events after a position, up to the end of the log. Throws what `subscribe` throws, and the signal's reason. */
export async function* eventsToEnd(
  eventStore: Pick<EventStore, 'subscribe'>,
  { signal = new AbortController().signal, ...reading }: Selection & Reading,
): AsyncGenerator<RecordedEvent, void, void> {
  for await (const message of eventStore.subscribe({ ...reading, signal })) {
    if (message.kind === 'caught_up') return;
    if (message.kind === 'event') yield message.event;
  }
  signal.throwIfAborted();
  throw new EventStoreUnavailable('The subscription closed before the end of the log');
}
