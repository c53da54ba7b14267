/** The reserve of data keys, where several processes take from one folder at the same time. */
import fs, { linkSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { createKeyReserve } from '@ledger/personal-data/key-reserve.ts';
import { wrappingKeys } from '@ledger/personal-data/key-store.ts';
import test from 'ava';
import { temporaryFolder } from '../embedded/helpers.ts';
import { testRuntime } from '../support/runtime.ts';

test.serial(
  'a file is there once the store has its block, readable by its owner, and overwritten when taken',
  async (t) => {
    const folder = join(await temporaryFolder(t), 'unused-keys');
    const wrapping = wrappingKeys(Buffer.alloc(32, 7).toString('base64'), []);
    const reserve = createKeyReserve({ folder, wrapping, runtime: testRuntime() });
    await t.throwsAsync(reserve.fill({ add: () => Promise.reject(new Error('away')) }), { message: 'away' });
    t.deepEqual(readdirSync(folder), []);
    await reserve.fill({ add: async () => {} });
    t.is(statSync(folder).mode & 0o777, 0o700);
    const others = await temporaryFolder(t);
    for (const name of readdirSync(folder)) {
      t.is(statSync(join(folder, name)).mode & 0o777, 0o600);
      linkSync(join(folder, name), join(others, name));
    }
    const isZero = (name: string) => readFileSync(join(others, name)).every((byte) => byte === 0);
    const taken = reserve.take().map(({ id }) => id);
    t.is(taken.length, 16);
    const overwritten = readdirSync(others).filter(isZero);
    t.deepEqual(overwritten.map((name) => name.split('.')[1]).toSorted(), taken.toSorted());
  },
);

const onLinux = process.platform === 'linux' ? test.serial : test.skip;

onLinux('what another process has taken first is left to it, and leaves no file open', async (t) => {
  const folder = await temporaryFolder(t);
  const wrapping = wrappingKeys(Buffer.alloc(32, 7).toString('base64'), []);
  const reserve = createKeyReserve({ folder, wrapping, runtime: testRuntime() });
  await reserve.fill({ add: async () => {} });
  const { unlinkSync } = fs;
  fs.unlinkSync = (path) => {
    unlinkSync(path);
    // The other process was quicker.
    unlinkSync(path);
  };
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.unlinkSync = unlinkSync;
    syncBuiltinESMExports();
  });
  const openBefore = readdirSync('/proc/self/fd').length;
  t.deepEqual(reserve.take(), []);
  t.is(readdirSync('/proc/self/fd').length, openBefore);
});
