/**
 * Data keys that are ready to be used. A process stores blocks of new keys ahead, and then draws from them in memory:
 * no event waits for the key store, and events are sealed while it is away.
 */
import type { Log } from '@ledger/kernel/log.ts';
import { portionsOf } from '@ledger/kernel/pages.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { KeyReserve } from './key-reserve.ts';
import { type KeyBlock, type KeyStore, keyIdOf, keyIn, keysPerBlock, newBlock } from './key-store.ts';
import { KeysUnavailable } from './sealed.ts';

/** How many keys a process keeps ahead. */
const defaultAhead = 98_304;
/** The share of what was kept ahead that is for work already begun, so that none of it is refused before new work is. */
const begunShare = 1 / 3;

/** Blocks that are stored in one statement. */
const blocksAtOnce = 8;
/** How often a process looks whether the store still has them. */
const lookEveryMs = 60_000;

const noReserve: KeyReserve = { take: () => [], fill: async () => undefined };

/**
 * `onAdded` is told the keys of each block before any of them can be drawn. Over 70 lines: its functions share the keys in
 * memory.
 */
export function createKeyPool(dependencies: {
  store: Pick<KeyStore, 'add' | 'missing' | 'removeUnused'>;
  reserve?: KeyReserve | undefined;
  onAdded: (block: KeyBlock) => void;
  runtime: Pick<Runtime, 'monotonicMs' | 'random' | 'randomBytes' | 'sleep'>;
  log: Log;
  /** At least one block. */
  ahead?: number;
}) {
  const { store, reserve = noReserve, onAdded, runtime, log, ahead = defaultAhead } = dependencies;
  const warn = warnSeldom(log, runtime);
  const blocks: KeyBlock[] = [];
  let drawnOfFirst = 0;
  let mostAhead = 0;
  let isReserveFilled = false;
  const stopping = new AbortController();
  const { signal } = stopping;
  let storingAgain = new AbortController();
  /** What is to be stored again, by block. */
  const lost = new Map<string, Buffer>();
  let filling: Promise<unknown> | null = null;
  const filled = Promise.withResolvers<void>();
  let drawn = Promise.withResolvers<void>();

  const goOn = () => {
    drawn.resolve();
    drawn = Promise.withResolvers();
  };

  const whyNone = () => {
    if (signal.aborted) return 'This process ends: it has given up its data keys';
    return mostAhead === 0
      ? 'No data keys are stored ahead yet'
      : 'All data keys that were stored ahead are used up';
  };

  const available = () => blocks.length * keysPerBlock - drawnOfFirst;

  async function fill(): Promise<void> {
    while (!signal.aborted) {
      const missing = Math.floor((ahead - available()) / keysPerBlock);
      if (missing < 1) {
        if (!isReserveFilled) {
          isReserveFilled = true;
          await reserve.fill(store).catch((error) => {
            log.warn({ reason: briefReasonOf(error) }, 'no reserve of data keys could be kept');
          });
          continue;
        }
        await drawn.promise;
        continue;
      }
      // The first event need not wait for more than one.
      const count = blocks.length === 0 ? 1 : Math.min(missing, blocksAtOnce);
      const made = Array.from({ length: count }, () => newBlock(runtime));
      await retry(() => store.add(made), {
        runtime,
        signal,
        // Later, an older copy of the store may be under another key, which an operator can mend while this process runs.
        shouldRetry: (error) => mostAhead > 0 || !(error instanceof ConfigError),
        onFailure: (error, failures) => {
          // Once per outage.
          if (failures === 1 && mostAhead === 0) useReserve();
          warn({ reason: briefReasonOf(error), available: available() }, 'data keys cannot be stored ahead');
        },
      });
      keep(made);
    }
  }

  function keep(added: readonly KeyBlock[]): void {
    for (const block of added) onAdded(block);
    blocks.push(...added);
    mostAhead = Math.max(mostAhead, available());
    if (added.length > 0) filled.resolve();
  }

  /** Uses the reserve of a process that has begun to work before the store could be reached. */
  function useReserve(): void {
    try {
      keep(reserve.take());
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'the reserve of data keys cannot be used');
    }
  }

  /**
   * The store may lose blocks although no connection is lost: while two servers took writes, they may have been stored in
   * the one that is gone since, or somebody has deleted or restored rows.
   */
  async function lookRegularly(): Promise<void> {
    while (!signal.aborted) {
      await runtime.sleep(lookEveryMs, signal);
      if (!signal.aborted && (await isMissing(blocks))) await pool.storeAgain().catch(() => {}); // rejects when it begins anew, or stops
    }
  }

  /** Whether the store lacks one of them; false if it does not answer: after an outage they are stored again anyway. */
  async function isMissing(some: readonly KeyBlock[]): Promise<boolean> {
    // Most commands draw no key: they must not wait for a store that is away.
    if (some.length === 0) return false;
    const missing = await store.missing(some.map(({ id }) => id)).catch(() => []);
    return missing.length > 0;
  }

  const pool = {
    /** Stores keys ahead from the first call on. Resolves as soon as there are some. Throws ConfigError. */
    start(): Promise<void> {
      const failed = (err: unknown) => {
        if (!signal.aborted) log.error({ err }, 'no more data keys are stored ahead');
        if (err instanceof ConfigError) filled.reject(err);
      };
      filling ??= Promise.all([fill().catch(failed), lookRegularly()]);
      return filled.promise;
    },

    /** A key that nothing was ever sealed under. Throws KeysUnavailable when there is none, yet or any more. */
    draw(use: 'new' | 'begun'): { id: string; key: Buffer } {
      const [block] = blocks;
      if (!block || available() <= (use === 'new' ? mostAhead * begunShare : 0))
        throw new KeysUnavailable(whyNone());
      const key = keyIn(block.keys, drawnOfFirst);
      const id = keyIdOf(block.id, drawnOfFirst);
      drawnOfFirst += 1;
      if (drawnOfFirst === keysPerBlock) {
        blocks.shift();
        drawnOfFirst = 0;
        goOn();
      }
      return { id, key };
    },

    available,

    /** How many blocks the store may have lost and has not taken again: what they seal is lost if this process ends. */
    unstored: () => lost.size,

    /**
     * Stores again what the store may have lost, and then the reserve: after a failover to a server that lagged, or a
     * restore. The block in use is stored with the keys that were drawn: if the store had lost it, it had also lost what was
     * destroyed in it, which is then destroyed again (decision 66). Tries until it succeeds: what was sealed could not be
     * opened any more once this process ends. Rejects when it is called again, which begins it anew, and when the pool stops.
     */
    async storeAgain(): Promise<void> {
      storingAgain.abort();
      storingAgain = new AbortController();
      const pace = {
        runtime,
        signal: AbortSignal.any([signal, storingAgain.signal]),
        onFailure: (error: unknown) =>
          warn({ reason: briefReasonOf(error) }, 'data keys cannot be stored again yet'),
      };
      for (const { id, keys } of blocks) lost.set(id, keys);
      const again = Array.from(lost, ([id, keys]) => ({ id, keys }));
      for (const part of portionsOf(again, blocksAtOnce)) {
        await retry(() => store.add(part), pace);
        for (const { id } of part) lost.delete(id);
      }
      isReserveFilled = false;
      goOn();
    },

    /**
     * Removes the blocks of which no key was drawn, as far as the store can be reached. Stores the one in use, if the store
     * has lost it since the last look.
     */
    async stop(): Promise<void> {
      stopping.abort();
      drawn.resolve();
      await filling;
      const inUse = blocks.slice(0, drawnOfFirst === 0 ? 0 : 1);
      const unused = blocks.slice(inUse.length).map(({ id }) => id);
      if (await isMissing(inUse)) await store.add(inUse).catch(() => undefined);
      blocks.length = 0;
      drawnOfFirst = 0;
      if (unused.length === 0) return;
      await store.removeUnused(unused).catch((error) => {
        log.warn({ reason: briefReasonOf(error) }, 'unused data keys were not removed');
      });
    },
  };
  return pool;
}
