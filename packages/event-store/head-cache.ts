/** The heads of streams that this process has written or read a moment ago. */
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { EventStore } from './event-store.ts';

/**
 * How long a head counts as known. Other processes append too, so a page that relies on a known head may be this much
 * behind, and never more.
 */
export const knownForMs = 10_000;

/** Beyond this number of streams, the head learnt longest ago is forgotten: its next reader reads the stream. */
const maxStreams = 10_000;

export type HeadCache = ReturnType<typeof createHeadCache>;

export function createHeadCache(
  runtime: Pick<Runtime, 'monotonicMs'>,
  { most = maxStreams }: { most?: number } = {},
) {
  const heads = new RecentMap<{ revision: number; atMs: number }>(most);

  function know(streamName: string, head: { revision: number; atMs: number }): void {
    const known = heads.get(streamName);
    // An answer may be overtaken by a later one.
    heads.set(streamName, known && known.revision > head.revision ? known : head);
  }

  return {
    /** The revision at which the stream ended at some time in the last `knownForMs`; null if that is not known. */
    revisionOf(streamName: string): number | null {
      const head = heads.get(streamName);
      return head && runtime.monotonicMs() - head.atMs < knownForMs ? head.revision : null;
    },

    /** The same store; whatever is appended or loaded through it is known afterwards. */
    watch: <Store extends Pick<EventStore, 'append' | 'load'>>(eventStore: Store): Store => ({
      ...eventStore,

      async append(streamName, ...rest) {
        // The time before the call: others may append before its answer arrives.
        const atMs = runtime.monotonicMs();
        try {
          const appended = await eventStore.append(streamName, ...rest);
          know(streamName, { revision: appended.revision, atMs });
          return appended;
        } catch (error) {
          // Whether it was appended may be unknown, and if another came first, the head has moved.
          heads.delete(streamName);
          throw error;
        }
      },

      async load(streamName, from, limit) {
        const atMs = runtime.monotonicMs();
        const events = await eventStore.load(streamName, from, limit);
        const last = events.at(-1);
        // A part of a stream does not show where it ends.
        if (last && limit === undefined) know(streamName, { revision: last.revision, atMs });
        return events;
      },
    }),
  };
}
