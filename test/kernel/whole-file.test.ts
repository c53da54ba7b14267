// A file that is replaced as a whole, also in a folder that is not there yet.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIfThere, replaceFile } from '@ledger/kernel/whole-file.ts';
import test from 'ava';

test('what was written is read, and nothing else is left behind', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-whole-file-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'data', 'checkpoint');
  t.is(await readIfThere(file), null);
  for (const content of ['the first', 'another one']) {
    await replaceFile(file, content);
    t.is(await readIfThere(file), content);
  }
  t.deepEqual(await readdir(join(folder, 'data')), ['checkpoint']);
  await mkdir(join(folder, 'taken'));
  await t.throwsAsync(readIfThere(join(folder, 'taken')), { code: 'EISDIR' });
});
