// What the help says of a command is what the command takes.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import test from 'ava';
import declarations from '../../content/commands.json' with { type: 'json' };
import program from '../../package.json' with { type: 'json' };
import { argumentsOf, helpOn, helpOnAll, isCommand, usageOf } from '../../src/cli/help.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { runLedger } from '../support/ledger.ts';

for (const name of Object.keys(declarations).filter(isCommand)) {
  test(`${name}: the usage names every option, and no other`, async (t) => {
    const named = new Set(Array.from(usageOf(name).matchAll(/--([a-z-]+)/g), ([, option]) => option));
    const { options, allowPositionals } = argumentsOf(name);
    const everywhere = ['help', ...('json' in declarations[name] ? ['json'] : [])];
    t.deepEqual([...named, ...everywhere].toSorted(), Object.keys(options).toSorted());
    const forms: readonly string[] = declarations[name].usage;
    t.is(
      allowPositionals,
      forms.some((form) => /^[<[]?[^-[]/.test(form)),
    );
    for (const option of Object.keys(options)) t.true((await helpOn(name)).includes(`--${option}`));
    t.true((await helpOnAll()).includes(`  ${name} `));
  });
}

test('every command is the file of its name, in one of two folders, and no other file is one', async (t) => {
  const folders = ['cli', 'roles'].map((name) => new URL(`../../src/${name}/`, import.meta.url));
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => new URL(file, folder)));
  // The others start at once when they are imported.
  const importable = files.filter(({ pathname }) => !pathname.endsWith('-child.ts'));
  const modules = await Promise.all(importable.map(async ({ href }) => ({ href, ...(await import(href)) })));
  const named = modules.filter(({ command }) => typeof command === 'function');
  t.deepEqual(
    named.map(({ href }) => basename(href, '.ts')).toSorted(),
    Object.keys(declarations).toSorted(),
  );
});

test('--help of a command exits with 0, whatever else is given', async (t) => {
  for (const args of [['verify', '--help'], ['statement', '--format', 'csv', '-h'], ['help']]) {
    const { code, stdout } = await runLedger(args, {});
    t.is(code, 0);
    t.regex(stdout, /^ledger /);
  }
});

test('what was mistyped is guessed, and only if it is near', async (t) => {
  for (const [args, expected] of [
    [['histroy'], /^Unknown command histroy\. Did you mean history\?\n\nledger <command>/],
    [['zzz'], /^Unknown command zzz\n\nledger <command>/],
    [['history', 'INV-1', '--jsn'], /^Unknown option '--jsn'.* Did you mean --json\?\nledger history /],
    [['history', 'INV-1', '--zzz'], /^Unknown option '--zzz'[^?]*\nledger history /],
  ] as const) {
    const { code, stdout, stderr } = await runLedger([...args], {});
    t.deepEqual([code, stdout], [2, '']);
    t.regex(stderr, expected);
  }
});

test('a file that cannot be read is named in a sentence, before anything is connected', async (t) => {
  const folder = await temporaryFolder(t);
  const none = join(folder, 'none');
  await symlink('loop', join(folder, 'loop'));
  const faults = [
    [folder, `${folder} is a folder, not a file`],
    [none, `${none} cannot be read: no such file or directory`],
    [join(folder, 'loop'), `${join(folder, 'loop')} cannot be read: too many symbolic links encountered`],
  ] as const;
  for (const [name, ...before] of [
    ['settle'],
    ['reconcile'],
    ['verify', '--file'],
    ['verify', '--public-key'],
    ['verify', '--since'],
    ['verify', '--witness-keys'],
    ['witness', '--name', 'w/1', '--log-key'],
  ] as const)
    for (const [path, fault] of faults.slice(0, name === 'settle' ? 3 : 1)) {
      const { code, stdout, stderr } = await runLedger([name, ...before, path], {});
      t.deepEqual([code, stdout, stderr], [2, '', `${fault}\n${usageOf(name)}\n`]);
    }
});

test('options that make no sense, by themselves or together, are refused before anything is begun', async (t) => {
  const refused = [
    [['verify', '--witnesses', '2'], '--witnesses needs --witness-keys'],
    [
      ['verify', '--file', '/dev/null', '--since', '/dev/null'],
      '--since and --record are about the log, not about a file',
    ],
    [['rebuild', '--parked', '--dry-run'], '--parked takes no projection and no --dry-run'],
    [['rebuild', '--requested', '--dry-run'], '--requested takes no other option'],
    [['witness', '--name', 'w/1', '--port', '99999'], '--port must be a number from 0 to 65535'],
    [['rebuild', '--parked', 'payments'], '--parked takes no projection and no --dry-run'],
    [['erase', '--payer', 'a@b.example', '--payer', 'c@d.example'], '--payer may be given only once'],
    [['eventstore', 'alc'], 'The only action is acl; it takes --user'],
  ] as const;
  for (const [args, fault] of refused) {
    const { code, stdout, stderr } = await runLedger(args, {});
    t.deepEqual([code, stdout, stderr], [2, '', `${fault}\n${usageOf(args[0])}\n`]);
  }
});

test('a pipe is a file that can be read', async (t) => {
  const pipe = join(await temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [{ code, stdout }] = await Promise.all([
    runLedger(['verify', '--file', pipe], {}),
    writeFile(pipe, 'no export\n'),
  ]);
  t.is(code, 1);
  t.regex(stdout, /^VIOLATION line 1: It is not a line of an export/);
});

test('--json prints one document, of the command that has it', async (t) => {
  const { code, stdout, stderr } = await runLedger(['configuration', '--json'], {});
  t.deepEqual([code, stderr], [0, '']);
  t.like(JSON.parse(stdout)[0], { name: 'NODE_ENV' }, stdout.slice(0, 200));
  const { code: refused, stderr: why } = await runLedger(['witness', '--json'], {});
  t.is(refused, 2);
  t.regex(why, /^Unknown option '--json'/);
});

test('--version names the release', async (t) => {
  t.like(await runLedger(['--version'], {}), { code: 0, stdout: `${program.version}\n` });
});
