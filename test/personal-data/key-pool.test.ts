/** How many payments are taken while the key store is away. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeyPool } from '@ledger/personal-data/key-pool.ts';
import { createKeyReserve } from '@ledger/personal-data/key-reserve.ts';
import { keyIn, keysPerBlock, readKeyId, wrappingKeys } from '@ledger/personal-data/key-store.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import test from 'ava';
import { pino } from 'pino';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { memoryKeyStore } from '../support/personal-data.ts';
import { testRuntime } from '../support/runtime.ts';

type Options = Parameters<typeof createKeyPool>[0];

/** A pool with what the test gives; otherwise it logs nothing, and nobody is told of new keys. */
const createPool = (options: Pick<Options, 'store'> & Partial<Options>) =>
  createKeyPool({
    onAdded: () => undefined,
    runtime: testRuntime(),
    log: pino({ level: 'silent' }),
    ...options,
  });

/** A reserve under the wrapping key that repeats a letter. */
function reserveUnder(letter: string, folder: string) {
  const wrapping = wrappingKeys(Buffer.alloc(32, letter).toString('base64'), []);
  return createKeyReserve({ folder, wrapping, runtime: testRuntime() });
}

/** A pool that is full when its store goes away. */
async function fullPool() {
  const store = memoryKeyStore();
  let isAway = false;
  const asked = { whileAway: 0, forReserve: 0 };
  const pool = createPool({
    store: {
      ...store,
      add(blocks) {
        asked.whileAway += isAway ? 1 : 0;
        return isAway ? Promise.reject(new Error('away')) : store.add(blocks);
      },
      removeUnused: (ids) => (isAway ? Promise.reject(new Error('away')) : store.removeUnused(ids)),
    },
    reserve: {
      take() {
        asked.forReserve += 1;
        return [];
      },
      fill: async () => undefined,
    },
  });
  await pool.start();
  while (pool.available() < 98_304) await new Promise(setImmediate);
  isAway = true;
  return { pool, asked };
}

test('65,536 requests, then as many results as keys are left: more than 62,000 payments in five minutes', async (t) => {
  const { pool, asked } = await fullPool();
  const ids = new Set<string>();
  const drawAll = (use: 'new' | 'begun') => {
    let count = 0;
    t.throws(
      () => {
        for (; ; count += 1) ids.add(pool.draw(use).id);
      },
      { instanceOf: KeysUnavailable },
    );
    return count;
  };
  t.is(drawAll('new'), 65_536);
  t.is(drawAll('begun'), 32_768);
  t.is(ids.size, 98_304, 'no key twice');
  await until(() => asked.whileAway > 1);
  t.is(asked.forReserve, 0, 'it is for those who start meanwhile');
  await pool.stop();
});

test('no key is drawn twice, and none after the end', async (t) => {
  const { pool } = await fullPool();
  const [one, other] = [pool.draw('new'), pool.draw('new')];
  t.notDeepEqual(one.key, other.key);
  t.false(one.key.every((byte) => byte === 0));
  await pool.stop();
  t.throws(() => pool.draw('begun'), { instanceOf: KeysUnavailable, message: /^This process ends/ });
});

test('a key that is missing is told with its cause: none is stored yet, or all are used up', async (t) => {
  const store = memoryKeyStore();
  const pool = createPool({ store, ahead: keysPerBlock });
  t.throws(() => pool.draw('new'), { instanceOf: KeysUnavailable, message: /yet$/ });
  await pool.start();
  store.add = () => Promise.reject(new Error('away'));
  for (let drawn = 0; drawn < keysPerBlock; drawn += 1) pool.draw('begun');
  t.throws(() => pool.draw('begun'), { instanceOf: KeysUnavailable, message: /used up$/ });
  await pool.stop();
});

test('keys are stored ahead although no reserve of them can be kept', async (t) => {
  const filled = Promise.withResolvers<void>();
  const pool = createPool({
    store: memoryKeyStore(),
    reserve: {
      take: () => [],
      fill() {
        filled.resolve();
        return Promise.reject(new Error('the disk is full'));
      },
    },
    ahead: keysPerBlock,
  });
  await pool.start();
  await filled.promise;
  for (let drawn = 0; drawn < keysPerBlock; drawn += 1) pool.draw('begun');
  t.true(await until(() => pool.available() > 0));
  await pool.stop();
});

test('what the store has lost is stored again, with the keys that were drawn', async (t) => {
  const store = memoryKeyStore();
  const pool = createPool({ store, ahead: 2 * keysPerBlock });
  await pool.start();
  while (pool.available() < 2 * keysPerBlock) await new Promise(setImmediate);
  const drawn = pool.draw('begun');
  const before = new Map([...store.blocks].map(([id, keys]) => [id, Buffer.from(keys)]));
  store.blocks.clear();
  await pool.storeAgain();
  t.deepEqual([...store.blocks.keys()], [...before.keys()]);
  t.deepEqual(store.blocks, before);
  const [id = ''] = store.blocks.keys();
  t.deepEqual(keyIn(store.blocks.get(id) ?? Buffer.alloc(0), 0), drawn.key);
  const next = pool.draw('begun');
  t.notDeepEqual(next.key, drawn.key);
  await pool.stop();
});

test('what the store has lost is stored again although no connection was lost: within a minute, and before the end', async (t) => {
  const store = memoryKeyStore();
  let look = () => {};
  let isAway = false;
  const pool = createPool({
    store: {
      ...store,
      missing: (ids) => (isAway ? Promise.reject(new Error('away')) : store.missing(ids)),
    },
    ahead: 2 * keysPerBlock,
    runtime: testRuntime({
      sleep: (_, signal) =>
        new Promise((resolve) => {
          look = resolve;
          signal?.addEventListener('abort', () => resolve());
        }),
    }),
  });
  await pool.start();
  while (pool.available() < 2 * keysPerBlock) await new Promise(setImmediate);
  const { block = '' } = readKeyId(pool.draw('begun').id) ?? {};
  const before = [...store.blocks.keys()];
  // As if both had been stored in a second primary, which is gone since.
  store.blocks.clear();
  isAway = true;
  look();
  await new Promise(setImmediate);
  isAway = false;
  look();
  t.true(await until(() => store.blocks.size === 2));
  t.deepEqual([...store.blocks.keys()], before);
  store.blocks.clear();
  await pool.stop();
  t.deepEqual([...store.blocks.keys()], [block], 'what is in use, and nothing else');
});

test('who has drawn no key asks the store for nothing when it ends: the store may be away', async (t) => {
  const unasked = () => Promise.reject(t.fail());
  const store = { ...memoryKeyStore(), add: unasked, missing: unasked, removeUnused: unasked };
  await createPool({ store }).stop();
  t.pass();
});

test('what the store has lost is stored again however long it takes no keys, each time from the beginning', async (t) => {
  const store = memoryKeyStore();
  let clockMs = 0;
  let takesFromMs = 0;
  const add: typeof store.add = (blocks) =>
    clockMs < takesFromMs ? Promise.reject(new Error('the disk is full')) : store.add(blocks);
  const sleep = async (ms: number, signal?: AbortSignal) => {
    // The regular look would store it, too.
    if (ms === 60_000) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    clockMs += ms;
    await new Promise(setImmediate);
  };
  const pool = createPool({
    store: { ...store, add },
    ahead: keysPerBlock,
    runtime: testRuntime({ monotonicMs: () => clockMs, sleep }),
  });
  await pool.start();
  store.blocks.clear();
  takesFromMs = clockMs + 10 * 60_000;
  const first = pool.storeAgain();
  const drawn = pool.draw('begun');
  const second = pool.storeAgain();
  await t.throwsAsync(first);
  await second;
  t.is(store.blocks.size, 1);
  const { block, index } = readKeyId(drawn.id) ?? { block: '', index: 0 };
  t.deepEqual(
    keyIn(store.blocks.get(block) ?? Buffer.alloc(0), index),
    drawn.key,
    'with the key that was drawn after the store had lost it',
  );
  await pool.stop();
});

test('started while the store is away: keys of the reserve, which are in the store and in no file any more', async (t) => {
  const folder = await temporaryFolder(t);
  const store = memoryKeyStore();
  const reserve = reserveUnder('k', folder);
  const start = (isAway: boolean) => {
    const pool = createPool({
      store: isAway ? { ...store, add: () => Promise.reject(new Error('away')) } : store,
      reserve,
      ahead: keysPerBlock,
    });
    t.teardown(() => pool.stop());
    return pool.start().then(() => pool);
  };
  await start(false);
  await until(async () => (await readdir(folder)).length === 32);
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  for (const keys of store.blocks.values())
    t.false(
      files.some((file) => file.includes(keyIn(keys, 0))),
      'they are encrypted',
    );

  const pools = await Promise.all([start(true), start(true), start(true)]);
  t.deepEqual(
    pools.map((pool) => pool.available() / keysPerBlock),
    [16, 8, 4],
  );
  const left = await readdir(folder);
  t.is(left.length, 4);
  const ids = new Set<string>();
  for (const pool of pools) {
    for (let drawn = 0; drawn < 2_000; drawn += 1) {
      const { id, key } = pool.draw('new');
      const { block, index } = readKeyId(id) ?? { block: '', index: 0 };
      ids.add(id);
      if (drawn % 500 > 0) continue;
      t.deepEqual(keyIn(store.blocks.get(block) ?? Buffer.alloc(0), index), key, 'it can be destroyed there');
      t.false(left.some((name) => name.endsWith(block)));
    }
  }
  t.is(ids.size, 6_000, 'no key twice');

  const [torn = ''] = left;
  await writeFile(join(folder, torn), 'torn');
  t.is(reserve.take().length, 1, 'of two files one was damaged');
  await reserve.fill(store);
  t.is((await readdir(folder)).length, 32);
  const other = reserveUnder('n', folder);
  t.deepEqual(other.take(), [], 'under a DATA_KEY that is not configured any more');
  await other.fill(store);
  t.is(other.take().length, 16);
});

test('what the store has lost of the reserve is stored again, too', async (t) => {
  const folder = await temporaryFolder(t);
  const store = memoryKeyStore();
  const reserve = reserveUnder('k', folder);
  const pool = createPool({ store, reserve, ahead: keysPerBlock });
  t.teardown(() => pool.stop());
  await pool.start();
  await until(async () => (await readdir(folder)).length === 32);
  const before = new Map(store.blocks);
  store.blocks.clear();
  await pool.storeAgain();
  await until(async () => store.blocks.size === before.size);
  t.deepEqual(new Map([...store.blocks].toSorted()), new Map([...before].toSorted()));
  t.is((await readdir(folder)).length, 32);
});
