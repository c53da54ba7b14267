import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import test from 'ava';
import { readBackupFolder } from '../../packages/embedded/backup-folder.ts';
import {
  isServed,
  lockDataFolder,
  namingFullDisk,
  unfinishedRestore,
} from '../../packages/embedded/data-folder.ts';
import { readEndpoints } from '../../packages/embedded/endpoints.ts';
import { freePort } from '../../packages/embedded/free-port.ts';
import { StartError } from '../../packages/embedded/start-error.ts';
import { command as restore } from '../../src/cli/restore.ts';
import { runLedger } from '../support/ledger.ts';
import { temporaryFolder } from './helpers.ts';

test('a data folder is created with its parent folders, and closed to other accounts', async (t) => {
  const folder = join(await temporaryFolder(t), 'above', 'data');
  const held = lockDataFolder(folder);
  t.teardown(held.release);
  t.is(held.path, folder);
  t.is((await stat(folder)).mode & 0o777, 0o700);
});

test('a data folder that was open to other accounts is closed to them', async (t) => {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  t.teardown(lockDataFolder(folder).release);
  t.is((await stat(folder)).mode & 0o777, 0o700);
});

test('a folder that several accounts share is refused and left unchanged', async (t) => {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o1777);
  t.throws(() => lockDataFolder(folder), {
    instanceOf: StartError,
    message: /: its sticky bit says that accounts share it\. Set DATA_DIR to a folder of its own/,
  });
  t.is((await stat(folder)).mode & 0o7777, 0o1777);
});

test('no ledger starts on a folder whose restore was interrupted', async (t) => {
  const path = await temporaryFolder(t);
  await writeFile(join(path, unfinishedRestore), '');
  t.throws(() => lockDataFolder(path), {
    instanceOf: StartError,
    message: /empty the folder and restore again/,
  });
});

test('a folder that is no backup is not restored, and nothing outside it is named', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'backup');
  await mkdir(path);
  const madeAt = new Date().toISOString();
  const sha256 = createHash('sha256').update('other').digest('hex');
  await writeFile(join(folder, 'of-somebody-else'), 'other');
  const manifests = [
    '{"madeAt": "2026-',
    'null',
    JSON.stringify({ madeAt, files: [{ name: '../of-somebody-else', sha256 }] }),
  ];
  for (const manifest of manifests) {
    await writeFile(join(path, 'backup.json'), manifest);
    await t.throwsAsync(readBackupFolder(path), { instanceOf: StartError, message: /is not a backup/ });
  }
  await writeFile(join(path, 'eventstore.db'), 'other');
  const half = { madeAt, files: [{ name: 'eventstore.db', sha256 }] };
  await writeFile(join(path, 'backup.json'), JSON.stringify(half));
  await t.throwsAsync(async () => await restore({}, [path]), {
    instanceOf: StartError,
    message: /it has no personal-data-1.jsonl/,
  });
});

test('what a backup holds may be right although it cannot be read', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'backup.json'));
  await t.throwsAsync(readBackupFolder(folder), { code: 'EISDIR' });
});

test('a locked data folder is refused with the pid of its holder until it is released', async (t) => {
  const folder = await temporaryFolder(t);
  const held = lockDataFolder(folder);
  const refusal = {
    message: `The data folder ${folder} is in use by process ${process.pid}. Stop that one first, or set DATA_DIR to another folder.`,
  };
  t.throws(() => lockDataFolder(folder), refusal);
  // A refused attempt must not have loosened the lock.
  t.throws(() => lockDataFolder(folder), refusal);
  held.release();
  held.release();
  lockDataFolder(folder).release();
});

// By itself, because it changes the account of the whole process.
test.serial('a folder that this account may not read is not taken for one that no ledger uses', async (t) => {
  const folder = await temporaryFolder(t);
  const { path, release } = lockDataFolder(join(folder, 'data'));
  t.teardown(release);
  t.true(isServed(path));
  t.false(isServed(join(folder, 'none')));
  // Root may read everything, so it looks as another account.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  else await chmod(path, 0);
  try {
    t.true(isServed(path));
    t.throws(() => readEndpoints(path), {
      instanceOf: StartError,
      message: /keys\.json cannot be read: .*EACCES/,
    });
  } finally {
    if (isRoot) process.seteuid?.(0);
    else await chmod(path, 0o700);
  }
});

test('kill -9 of the holder releases the folder, whichever process has its number then', async (t) => {
  const folder = await temporaryFolder(t);
  const program = join(folder, 'holder.ts');
  const lockModule = new URL('../../packages/embedded/data-folder.ts', import.meta.url).href;
  await writeFile(
    program,
    `import { lockDataFolder, unfinishedRestore } from '${lockModule}';
     lockDataFolder(process.argv[2]);
     process.on('message', () => {});
     process.send('held');`,
  );
  const holder = fork(program, [folder], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder, 'message');
  t.throws(() => lockDataFolder(folder), { message: new RegExp(`in use by process ${holder.pid}\\.`) });
  t.true(isServed(folder));

  const exited = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exited;
  await writeFile(join(folder, 'ledger.pid'), String(process.pid));
  t.false(isServed(folder));
  t.false(isServed(program), 'a file is no folder');
  lockDataFolder(folder).release();
});

test('a start on a full disk is one sentence that names the folder', async (t) => {
  const folder = await temporaryFolder(t);
  // Of all that a start writes there, this comes first.
  await symlink('/dev/full', join(folder, 'ledger.pid'));
  const started = await runLedger(['serve'], { DATA_DIR: folder, PORT: String(await freePort()) });
  t.is(started.stderr, `The disk of ${folder} is full. Free space on it, and try again.\n`);
  t.is(started.code, 1);
});

test('what SQLite says of a full disk, and Node of a quota, names the folder; no other error is changed', async (t) => {
  const fail = (error: Error) => namingFullDisk('/data', () => Promise.reject(error));
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });
  await t.throwsAsync(fail(full), { instanceOf: StartError, message: /^The disk of \/data is full/ });
  const code = getSystemErrorName(-constants.errno.EDQUOT);
  const quota = Object.assign(new Error(`${code}: ${code}, write`), { code });
  t.is(reasonOf(quota), 'EDQUOT: EDQUOT, write');
  await t.throwsAsync(fail(quota), { instanceOf: StartError, message: /^The disk of \/data is full/ });
  const other = new Error('other');
  await t.throwsAsync(fail(other), { is: other });
});

test('the error names a folder that cannot be used', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'file'), '');
  t.throws(() => lockDataFolder(join(folder, 'file')), {
    message:
      /^The data folder .*file cannot be used: .*\. Set DATA_DIR to a folder that this account may write to\.$/,
  });

  await mkdir(join(folder, 'taken/ledger.lock'), { recursive: true });
  t.throws(() => lockDataFolder(join(folder, 'taken')), {
    message: /^The data folder .*taken cannot be used/,
  });
});
