// A folder that cannot be made is a fault of the system, and never an endless attempt.
import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { rawKeyOf, verifierText } from '@ledger/transparency-log/note.ts';
import test from 'ava';
import { lockDataFolder } from '../../packages/embedded/data-folder.ts';
import { makeFolder } from '../../packages/kernel/make-folder.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { spawnLedger } from '../support/ledger.ts';

test('a folder is made with the folders above it, each with the same rights, and one that is there stays', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'above', 'of-its-own');
  makeFolder(path, 0o700);
  makeFolder(path, 0o755);
  for (const made of [path, join(folder, 'above')]) t.is((await stat(made)).mode & 0o777, 0o700);
});

test('a file where a folder should be is refused, and stays as it is', async (t) => {
  const file = join(await temporaryFolder(t), 'file');
  await writeFile(file, 'of somebody else', { mode: 0o644 });
  t.throws(() => makeFolder(file), { code: 'EEXIST' });
  t.throws(() => lockDataFolder(file), { message: /file cannot be used: EEXIST/ });
  t.throws(() => makeFolder(join(file, 'below')), { message: /EEXIST|ENOTDIR/ });
  t.is((await stat(file)).mode & 0o777, 0o644);
});

test('where no folder can be made, data, keys, emails, files and backups are refused at once', async (t) => {
  const at = (path: string) =>
    JSON.stringify(new URL(`../../packages/embedded/${path}`, import.meta.url).href);
  const program = `
    import { writeBackupFolder } from ${at('backup-folder.ts')};
    import { lockDataFolder } from ${at('data-folder.ts')};
    import { replaceFile } from ${at('../kernel/whole-file.ts')};
    import { createMailer } from ${at('../outbound/mailer.ts')};
    import { createKeyReserve } from ${at('../personal-data/key-reserve.ts')};
    const told = (error) => console.log(error.message);
    await writeBackupFolder('/proc/no/such/backup', { madeAt: new Date(), fill() {} }).catch(told);
    try { lockDataFolder('/proc/no/such/data'); } catch (error) { told(error); }
    await replaceFile('/proc/no/such/file', '').catch(told);
    try { createKeyReserve({ folder: '/proc/no/such/keys' }).take(); } catch (error) { told(error); }
    const mail = { smtpUrl: null, requireTls: false, from: { name: '', address: 'ledger@example.my' } };
    const runtime = { uuid: () => '1' };
    const mailer = createMailer({ mail, outboxDir: '/proc/no/such/outbox', runtime });
    const email = { id: 'one', to: 'payer@example.my', subject: '', text: '', html: '' };
    console.log((await mailer.send(email, AbortSignal.timeout(5_000))).reason);`;
  // In a process of its own, which can be ended while it tries.
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  const said = [
    /^ENOENT: .*'\/proc\/no'/,
    /\/proc\/no\/such\/data.*ENOENT/,
    /^ENOENT/,
    /^ENOENT/,
    /outbox.*ENOENT/,
  ];
  const lines = stdout.trim().split('\n');
  for (const [index, each] of said.entries()) t.regex(lines[index] ?? '', each);
});

test('so is a folder of the event store alone, or of a witness', async (t) => {
  const keys = join(await temporaryFolder(t), 'log.pub');
  const publicKey = rawKeyOf(sealKeyOf('5'.repeat(64)).publicKey);
  await writeFile(keys, verifierText({ kind: 'log', name: 'ledger.example.my', publicKey }));
  for (const args of [
    ['eventstore', '--data', '/proc/no/such/eventstore.db'],
    ['witness', '--name', 'witness.example.my/1', '--log-key', keys, '--folder', '/proc/no/such/witness'],
  ]) {
    const child = spawnLedger(args, {});
    const impatience = setTimeout(() => child.kill('SIGKILL'), 60_000);
    t.regex(await text(child.stderr), /ENOENT: .*'\/proc\/no'/);
    clearTimeout(impatience);
  }
});
