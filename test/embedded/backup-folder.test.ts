/** Backups and restored data folders are complete on disk before they count as such: a power cut may follow at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
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
  const heard = process.listenerCount('SIGINT');
  await writeBackupFolder(backup, { madeAt: new Date(), fill: (save) => save('log', ['content']) });
  t.deepEqual(synced, [
    { path: `${backup}.${process.pid}.part`, found: false },
    { path: folder, found: true },
  ]);
  t.is(process.listenerCount('SIGINT'), heard, 'a signal after it is not its concern');
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  test.serial(`${signal} leaves nothing of a backup, which holds every key`, async (t) => {
    const folder = await temporaryFolder(t);
    const [backup, module] = [
      join(folder, 'backup'),
      new URL('../../packages/embedded/backup-folder.ts', import.meta.url),
    ];
    const script = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { writeBackupFolder } from ${JSON.stringify(module.href)};
    async function* pieces() {
      yield 'part of it';
      process.kill(process.pid, '${signal}');
      await sleep(60_000);
    }
    async function fill(save) {
      await save('keys.json', ['secret']);
      await save('eventstore.db', pieces());
    }
    await writeBackupFolder(${JSON.stringify(backup)}, { madeAt: new Date(), fill });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    await once(child, 'exit');
    t.deepEqual(readdirSync(folder), []);
    t.is(child.exitCode, 130);
  });

test.serial('a restore: its files, while it still counts as unfinished; the lock stays held', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const mark = join(dataDir, unfinishedRestore);
  const synced = recordSynced(t, () => existsSync(mark));
  await fillDataFolder(dataDir, async (path) => writeFileSync(join(path, 'eventstore.db'), 'content'));
  t.deepEqual(synced[0], { path: dataDir, found: true }, 'the mark, before there is anything else');
  t.deepEqual(synced.at(-1), { path: dataDir, found: false });
  t.true(synced.some(({ path, found }) => path === join(dataDir, 'eventstore.db') && found));
  t.false(
    synced.some(({ path }) => path.endsWith('ledger.lock')),
    'which would release it',
  );
});

test.serial(
  'of a restore that fails, the mark is removed last: whenever it is killed, no ledger starts on a part',
  async (t) => {
    const dataDir = join(await temporaryFolder(t), 'data');
    const { rmSync } = fs;
    const left: string[][] = [];
    fs.rmSync = (path, options) => {
      rmSync(path, options);
      left.push(readdirSync(dataDir));
    };
    syncBuiltinESMExports();
    t.teardown(() => {
      fs.rmSync = rmSync;
      syncBuiltinESMExports();
    });
    const fill = async (path: string) => {
      for (const name of ['eventstore.db', 'keys.json', 'zzz']) writeFileSync(join(path, name), 'content');
      throw new Error('no room');
    };
    await t.throwsAsync(fillDataFolder(dataDir, fill), { message: 'no room' });
    t.deepEqual(left.at(-1), []);
    t.true(left.every((names) => names.length === 0 || names.includes(unfinishedRestore)));
  },
);
