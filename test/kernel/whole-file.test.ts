// A file that is replaced as a whole, also in a folder that is not there yet.
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIfThere, replaceFile } from '@ledger/kernel/whole-file.ts';
import test from 'ava';
import { recordSynced } from '../support/synced.ts';

test.serial('what was written is read, and nothing else is left behind', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-whole-file-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'data', 'checkpoint');
  t.is(await readIfThere(file), null);
  for (const content of ['the first', 'another one']) {
    await replaceFile(file, content);
    t.is(await readIfThere(file), content);
  }
  t.deepEqual(await readdir(join(folder, 'data')), ['checkpoint']);
  await replaceFile(join(folder, 'key'), 'a secret', 0o600);
  t.is((await stat(join(folder, 'key'))).mode & 0o777, 0o600);
  await mkdir(join(folder, 'taken'));
  await t.throwsAsync(readIfThere(join(folder, 'taken')), { code: 'EISDIR' });
});

test.serial(
  'a replaced file is not the old one again after a power cut: its folder is on disk too',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ledger-whole-file-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const file = join(folder, 'checkpoint');
    const synced = recordSynced(t, () => readFileSync(file, 'utf8'));
    await replaceFile(file, 'new');
    t.deepEqual(synced, [{ path: folder, found: 'new' }]);
  },
);
