/** The reserve of data keys, where several processes take from one folder at the same time. */
import fs, { readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createKeyReserve } from '@ledger/personal-data/key-reserve.ts';
import { wrappingKeys } from '@ledger/personal-data/key-store.ts';
import test from 'ava';
import { temporaryFolder } from '../embedded/helpers.ts';
import { testRuntime } from '../support/runtime.ts';

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
