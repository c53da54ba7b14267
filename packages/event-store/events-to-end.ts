import { type EventStore, EventStoreUnavailable, type RecordedEvent } from './event-store.ts';

/** The selected events after a position, up to the end of the log. Throws what `subscribe` throws, and the signal's reason. */
export async function* eventsToEnd(
  eventStore: Pick<EventStore, 'subscribe'>,
  options: Parameters<EventStore['subscribe']>[0],
): AsyncGenerator<RecordedEvent, void, void> {
  for await (const message of eventStore.subscribe(options)) {
    if (message.kind === 'caught_up') return;
    if (message.kind === 'event') yield message.event;
  }
  options.signal.throwIfAborted();
  throw new EventStoreUnavailable('The subscription closed before the end of the log');
}
