/** What is in quarantine. */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { unmatchedIdOf, unmatchedStream } from '../../src/events/unmatched.ts';
import { patienceMs } from '../embedded/helpers.ts';

/** Everything in quarantine, in the order of the log. */
export async function quarantined(eventStore: Pick<EventStore, 'subscribe'>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const signal = AbortSignal.timeout(patienceMs);
  for await (const message of eventStore.subscribe({
    streamPrefixes: [unmatchedStream],
    after: null,
    signal,
  })) {
    if (message.kind === 'caught_up') break;
    if (message.kind === 'event') events.push(message.event);
  }
  return events;
}

/** Where the console has the exception of the only result in quarantine. */
export async function onlyUnmatchedPath(eventStore: Pick<EventStore, 'subscribe'>): Promise<string> {
  const [event, ...others] = await quarantined(eventStore);
  if (!event || others.length > 0) throw new Error('There is not one result in quarantine');
  return `unmatched/${unmatchedIdOf(event)}`;
}
