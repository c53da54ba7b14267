/** Whether the event store's disk is full, as far as the appends of this process tell. */
import type { Runtime } from '../kernel/runtime.ts';
import { type EventStore, EventStoreFull } from './event-store.ts';

/** Only an append finds out whether there is room again. Without one, so much later it counts as if there were. */
const knownForMs = 60_000;

/** The same store, whose appends are watched. */
export function watchDisk<Store extends Pick<EventStore, 'append'>>(
  eventStore: Store,
  runtime: Pick<Runtime, 'monotonicMs'>,
): { eventStore: Store; isDiskFull(): boolean } {
  let fullAtMs: number | null = null;
  return {
    isDiskFull: () => fullAtMs !== null && runtime.monotonicMs() - fullAtMs < knownForMs,
    eventStore: {
      ...eventStore,
      async append(...args) {
        try {
          const appended = await eventStore.append(...args);
          fullAtMs = null;
          return appended;
        } catch (error) {
          if (error instanceof EventStoreFull) fullAtMs = runtime.monotonicMs();
          throw error;
        }
      },
    },
  };
}
