/** Backups and restored data folders are complete on disk before they count as such: a power cut may follow at once. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { fillDataFolder, writeBackupFolder } from '../../packages/embedded/backup-folder.ts';
import { unfinishedRestore } from '../../packages/embedded/data-folder.ts';
import { recordSynced } from '../support/synced.ts';
import { temporaryFolder } from './helpers.ts';

test.serial('a backup: its files, then its name', async (t) => {
  const folder = await temporaryFolder(t);
  const backup = join(folder, 'backup');
  const synced = recordSynced(t, () => existsSync(backup));
  await writeBackupFolder(backup, { madeAt: new Date(), fill: (save) => save('log', ['content']) });
  t.deepEqual(synced, [
    { path: `${backup}.${process.pid}.part`, found: false },
    { path: folder, found: true },
  ]);
});

test.serial('a restore: its files, while it still counts as unfinished; the lock stays held', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const mark = join(dataDir, unfinishedRestore);
  const synced = recordSynced(t, () => existsSync(mark));
  await fillDataFolder(dataDir, async (path) => writeFileSync(join(path, 'eventstore.db'), 'content'));
  t.deepEqual(synced.at(-1), { path: dataDir, found: false });
  t.true(synced.some(({ path, found }) => path === join(dataDir, 'eventstore.db') && found));
  t.false(
    synced.some(({ path }) => path.endsWith('ledger.lock')),
    'which would release it',
  );
});
