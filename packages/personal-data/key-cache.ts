/** Blocks of data keys in memory, for opening: limited in number and in age. */
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { KeyBlock, KeyStore } from './key-store.ts';
import { KeysUnavailable } from './sealed.ts';

/** 4 MiB of keys. */
const maxBlocks = 128;
/** How long a key that another process has destroyed may still open, if its notification was lost. */
const maxAgeMs = 60_000;
/** How long a block still serves while the store cannot be reached. */
const maxAgeAwayMs = 3_600_000;

export function createKeyCache({
  store,
  runtime,
}: {
  store: Pick<KeyStore, 'read'>;
  runtime: Pick<Runtime, 'monotonicMs'>;
}) {
  const blocks = new RecentMap<{ keys: Buffer; readMs: number }>(maxBlocks);
  let wanted: { ids: Set<string>; read: ReturnType<KeyStore['read']> } | null = null;
  /** Counts the times that everything was forgotten: what was being read then must not be kept. */
  let generation = 0;

  const keep = ({ id, keys }: KeyBlock): void => void blocks.set(id, { keys, readMs: runtime.monotonicMs() });

  /** Blocks that are asked for in the same turn of the event loop are read in one query. */
  function read(id: string): ReturnType<KeyStore['read']> {
    if (!wanted) {
      const ids = new Set<string>();
      const begun = generation;
      const reading = Promise.resolve().then(async () => {
        wanted = null;
        const found = await store.read([...ids]);
        if (begun === generation)
          for (const [block, keys] of found) if (keys instanceof Buffer) keep({ id: block, keys });
        return found;
      });
      wanted = { ids, read: reading };
    }
    wanted.ids.add(id);
    return wanted.read;
  }

  return {
    keep,

    /** A block that is in memory and fresh, or undefined: then `read` it. */
    fresh(id: string): Buffer | undefined {
      const found = blocks.get(id);
      return found && runtime.monotonicMs() - found.readMs < maxAgeMs ? found.keys : undefined;
    },

    /**
     * A block from the store; null if it is lost. While the store cannot be reached, a block that is no longer fresh still
     * serves for an hour: not for longer, because others may reach the store, and destroy keys. Throws the store's error.
     */
    async read(id: string): Promise<Buffer | null> {
      try {
        const found = (await read(id)).get(id) ?? null;
        if (found instanceof KeysUnavailable) throw found;
        return found;
      } catch (error) {
        const old = blocks.get(id);
        if (!old || runtime.monotonicMs() - old.readMs >= maxAgeAwayMs) throw error;
        return old.keys;
      }
    },

    /** When keys have been destroyed, or may have been. */
    forget(): void {
      generation += 1;
      blocks.clear();
    },
  };
}
