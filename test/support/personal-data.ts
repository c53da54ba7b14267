/** Seals and opens as the program does, with the keys in the memory of the test instead of in Postgres. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Erasure,
  isDestroyed,
  type KeyStore,
  keyIn,
  keysPerBlock,
  readKeyId,
} from '@ledger/personal-data/key-store.ts';
import { createPersonalData, type PersonalData } from '@ledger/personal-data/personal-data.ts';
import { pino } from 'pino';
import { testRuntime } from './runtime.ts';

/** A key store that is a map. */
export function memoryKeyStore(): KeyStore & { blocks: Map<string, Buffer> } {
  const blocks = new Map<string, Buffer>();
  const begun = new Map<string, Erasure>();
  return {
    blocks,
    async add(added) {
      for (const { id, keys } of added) if (!blocks.has(id)) blocks.set(id, Buffer.from(keys));
    },
    async read(ids) {
      return new Map(ids.flatMap((id) => (blocks.has(id) ? [[id, Buffer.from(blocks.get(id) ?? [])]] : [])));
    },
    async destroy(keyIds) {
      let there = 0;
      for (const { block, index } of keyIds.map(readKeyId).filter((each) => each !== null)) {
        const keys = blocks.get(block);
        if (!keys || isDestroyed(keyIn(keys, index))) continue;
        keyIn(keys, index).fill(0);
        there += 1;
      }
      return there;
    },
    freeOldVersions: async () => undefined,
    missing: async (ids) => ids.filter((id) => !blocks.has(id)),
    async removeUnused(ids) {
      for (const id of ids) blocks.delete(id);
    },
    indexKey: async () => Buffer.alloc(32, 'index'),
    rewrap: async () => ({ moved: 0, left: 0 }),
    erasures: {
      async begin(erasures) {
        for (const erasure of erasures) begun.set(erasure.subject, erasure);
      },
      async complete(ids) {
        for (const id of ids) begun.delete(id);
      },
      begunBefore: async (_, { after, limit }) =>
        [...begun.values()].filter(({ subject }) => subject > after).slice(0, limit),
    },
  };
}

/** As one process has it, ready to seal. */
export async function startPersonalData(store: KeyStore = memoryKeyStore()): Promise<PersonalData> {
  const forget: ((payload: string) => void)[] = [];
  const announcing: KeyStore = {
    ...store,
    async destroy(keyIds) {
      const there = await store.destroy(keyIds);
      for (const each of forget) each('');
      return there;
    },
  };
  const personalData = createPersonalData({
    store: announcing,
    listen(onDestroyed) {
      forget.push(onDestroyed);
      return { stop: async () => undefined };
    },
    ahead: 8 * keysPerBlock,
    log: pino({ level: 'silent' }),
    // Nobody stops it, and the process of the tests ends all the same.
    runtime: testRuntime({
      sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {}),
    }),
  });
  await personalData.start();
  return personalData;
}

/** Of all that runs in this process, so that one part reads what another has sealed. */
export const personalData = await startPersonalData();
