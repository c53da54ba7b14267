import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { folderWithCluster } from '../support/postgres.ts';
import {
  isAlive,
  postgresPids,
  query,
  spawnLedger,
  stopLedger,
  temporaryFolder,
  until,
  urlOf,
} from './helpers.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;

test('for an ordinary user, in a folder with a space and a quote in its name, the database is UTF-8, durable, accessible to its owner only, and survives a restart', async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, `agensi's data`);
  // As root the test starts the ledger under another account; an ordinary user starts it as itself.
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  if (account) await chown(folder, account.uid, account.gid);
  const first = spawnLedger(t, dataDir, account);
  const url = await urlOf(first);
  t.is((await stat(join(dataDir, 'postgres/data'))).uid, account?.uid ?? (await stat(folder)).uid);
  await query(url, `create table kept as select 'Terima kasih – 谢谢' as text`);
  const settings = `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as address,
    current_setting('log_error_verbosity') as logged,
    rolsuper from pg_roles where rolname = current_user`;
  t.deepEqual(await query(url, settings), [
    { encoding: 'UTF8', fsync: 'on', commit: 'on', address: '127.0.0.1', logged: 'terse', rolsuper: false },
  ]);

  const wrongPassword = new URL(url);
  wrongPassword.password = 'guess';
  await t.throwsAsync(query(wrongPassword.href, 'select 1'), { message: /password authentication failed/ });
  const superuser = new URL(url);
  superuser.username = 'postgres';
  await t.throwsAsync(query(superuser.href, 'select 1'), { message: /no pg_hba.conf entry/ });

  const passwordFile = join(dataDir, 'postgres/password');
  t.is((await stat(passwordFile)).mode & 0o777, 0o600);
  t.is(await readFile(passwordFile, 'utf8'), new URL(url).password);

  await stopLedger(first);
  await t.throwsAsync(query(url, 'select 1'), { code: 'ECONNREFUSED' });
  const second = spawnLedger(t, dataDir, account);
  t.deepEqual(await query(await urlOf(second), 'select text from kept'), [{ text: 'Terima kasih – 谢谢' }]);
  await stopLedger(second);
});

test('a start that fails says why', async (t) => {
  const dataDir = await folderWithCluster(t);
  const first = spawnLedger(t, dataDir);
  await urlOf(first);
  await stopLedger(first);
  const passwords = {
    'not-the-one': 'password authentication failed for user "ledger"',
    '': 'postgres/password is damaged: it does not hold a password',
  };
  for (const [password, reason] of Object.entries(passwords)) {
    await writeFile(join(dataDir, 'postgres/password'), password);
    await t.throwsAsync(urlOf(spawnLedger(t, dataDir)), {
      message: new RegExp(`PostgreSQL in .*postgres does not start: .*${reason}`, 's'),
    });
  }
});

test('a second start on the same data folder is refused and leaves the first alone', async (t) => {
  const dataDir = await folderWithCluster(t);
  const first = spawnLedger(t, dataDir);
  const url = await urlOf(first);
  await t.throwsAsync(urlOf(spawnLedger(t, dataDir)), {
    message: new RegExp(`The data folder ${dataDir} is in use by process ${first.pid}`),
  });
  t.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }]);
});

onLinux(
  'after any process is killed, PostgreSQL returns at the same address with every commit',
  async (t) => {
    const dataDir = await folderWithCluster(t);
    const ledger = spawnLedger(t, dataDir);
    const url = await urlOf(ledger);
    await query(url, 'create table kept (word text)');
    for (const victim of ['postmaster', 'guard'] as const) {
      const before = await postgresPids(dataDir);
      await query(url, `insert into kept values ('${victim}')`);
      process.kill(before[victim], 'SIGKILL');
      await until(async () => {
        const now = await postgresPids(dataDir).catch(() => before);
        return now.guard !== before.guard && now.postmaster !== before.postmaster;
      });
      const words = await until(() => query(url, 'select word from kept').catch(() => undefined));
      t.like(words.at(-1), { word: victim });
      t.false(isAlive(before.postmaster));
    }
  },
);

onLinux('however it ended, the next start has every commit', async (t) => {
  const dataDir = await folderWithCluster(t);
  let ledger = spawnLedger(t, dataDir);
  await query(await urlOf(ledger), 'create table kept as select 1 as one');
  const startsAgain = async () => {
    ledger = spawnLedger(t, dataDir);
    t.deepEqual(await query(await urlOf(ledger), 'select one from kept'), [{ one: 1 }]);
  };

  // kill -9 of the ledger ends PostgreSQL too.
  const first = await postgresPids(dataDir);
  ledger.kill('SIGKILL');
  await until(() => !isAlive(first.guard) && !isAlive(first.postmaster));
  await startsAgain();

  // A PostgreSQL that has outlived the ledger and the guard is stopped.
  const second = await postgresPids(dataDir);
  process.kill(second.guard, 'SIGSTOP');
  ledger.kill('SIGKILL');
  process.kill(second.guard, 'SIGKILL');
  await until(() => !isAlive(second.guard));
  t.true(isAlive(second.postmaster));
  await startsAgain();
  t.false(isAlive(second.postmaster));

  // Everything is killed at once.
  const third = await postgresPids(dataDir);
  process.kill(third.guard, 'SIGSTOP');
  for (const pid of [ledger.pid ?? 0, third.postmaster, third.guard]) process.kill(pid, 'SIGKILL');
  await startsAgain();

  // A stale pid file is no obstacle, and the process that has the pid now is left alone.
  const pidFile = join(dataDir, 'postgres/data/postmaster.pid');
  const left = await readFile(pidFile, 'utf8');
  await stopLedger(ledger);
  const bystanderFile = join(dataDir, 'bystander.mjs');
  await writeFile(bystanderFile, `process.on('message', () => {}); process.send('here');`);
  const bystander = fork(bystanderFile);
  t.teardown(() => bystander.kill('SIGKILL'));
  await once(bystander, 'message');
  await writeFile(pidFile, left.replace(/^\d+/, String(bystander.pid)));
  await startsAgain();
  t.true(isAlive(bystander.pid ?? 0));
});

/** A data folder whose ledger was killed while it created the cluster, which a busy machine may notice too late. */
async function interruptCreation(t: ExecutionContext): Promise<string> {
  for (;;) {
    const dataDir = await temporaryFolder(t);
    const ledger = spawnLedger(t, dataDir);
    const draft = async () => (await readdir(dataDir)).find((name) => name.startsWith('postgres'));
    // The URL only comes from a start that was over before it was seen, and a failed start says why.
    const seen = await Promise.race([until(draft), urlOf(ledger)]);
    ledger.kill('SIGKILL');
    if (seen.startsWith('postgres.new-')) return dataDir;
  }
}

test('a cluster whose creation was interrupted by kill -9 is created again, and its remains are removed', async (t) => {
  const dataDir = await interruptCreation(t);
  await mkdir(join(dataDir, `postgres.new-${randomBytes(3).toString('hex')}/data/base`), { recursive: true });
  t.deepEqual(await query(await urlOf(spawnLedger(t, dataDir)), 'select 1 as one'), [{ one: 1 }]);
  t.deepEqual((await readdir(dataDir)).sort(), ['ledger.lock', 'ledger.pid', 'postgres']);
});
