/** Blocks of keys in memory, and keys that are destroyed meanwhile. */
import { createKeyCache } from '@ledger/personal-data/key-cache.ts';
import test from 'ava';
import { testRuntime } from '../support/runtime.ts';

test('a block that was being read when keys were destroyed is not kept', async (t) => {
  const { promise: read, resolve } = Promise.withResolvers<Map<string, Buffer>>();
  const cache = createKeyCache({ store: { read: () => read }, runtime: testRuntime() });
  const keys = Buffer.alloc(32, 7);
  const [before, during] = [cache.read('block'), cache.read('block')];
  await new Promise(setImmediate);
  cache.forget();
  resolve(new Map([['block', keys]]));
  t.deepEqual(await Promise.all([before, during]), [keys, keys]);
  t.is(cache.fresh('block'), undefined);
  await cache.read('block');
  t.is(cache.fresh('block'), keys);
});
