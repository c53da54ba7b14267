/** What the event store last had no room for, by process. */
import type { EventStore } from '@ledger/event-store/event-store.ts';

export function createRefusals(nowMs: () => number) {
  const refusedAtMs = new Map<string, number>();
  return {
    /** Minus infinity if there is room. */
    atMs: (name: string): number => refusedAtMs.get(name) ?? Number.NEGATIVE_INFINITY,

    /** For a process that begins: its appends are noted. */
    noting(name: string, append: EventStore['append']): EventStore['append'] {
      refusedAtMs.delete(name);
      return async (...args) => {
        try {
          const stored = await append(...args);
          refusedAtMs.delete(name);
          return stored;
        } catch (error) {
          if (error instanceof Error && error.name === 'EventStoreFull') refusedAtMs.set(name, nowMs());
          throw error;
        }
      };
    },
  };
}
