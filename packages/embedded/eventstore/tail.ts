// The last events of the log, in memory: reading them from SQLite for each subscriber took a fifth of the store's CPU.
import { PAGE_BYTES, PAGE_EVENTS, type PageRequest, type StoredEvent } from './log-tables.ts';

/** At most one page. It starts empty, and knows only what is committed from then on. */
export function createTail() {
  let events: StoredEvent[] = [];

  return {
    /** What a transaction has written, once it is committed. */
    add(committed: readonly StoredEvent[]): void {
      const all = [...events, ...committed].slice(-PAGE_EVENTS);
      let bytes = 0;
      const first = all.findLastIndex(({ message }) => {
        bytes += message.length;
        return bytes > PAGE_BYTES;
      });
      events = all.slice(first + 1);
    },

    /** The answer to a request for events that are all here; otherwise undefined. */
    page({ stream, from, direction, limit }: PageRequest): StoredEvent[] | undefined {
      const [first] = events;
      if (stream !== undefined || direction === 'backwards' || !first || from < first.position)
        return undefined;
      // Positions have no gaps.
      return events.slice(from - first.position).slice(0, limit);
    },
  };
}
