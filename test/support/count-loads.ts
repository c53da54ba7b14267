// An event store that counts how often each stream is loaded.
import type { EventStore } from '@ledger/event-store/event-store.ts';

export function countLoads<Store extends Pick<EventStore, 'load'>>(eventStore: Store) {
  const counts = new Map<string, number>();
  const load: EventStore['load'] = (streamName, ...range) => {
    counts.set(streamName, (counts.get(streamName) ?? 0) + 1);
    return eventStore.load(streamName, ...range);
  };
  return {
    eventStore: { ...eventStore, load },
    loadsOf: (streamName: string) => counts.get(streamName) ?? 0,
  };
}
