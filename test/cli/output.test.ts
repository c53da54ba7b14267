// What a command does when what it prints cannot be written.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { openOutput } from '../../src/cli/output.ts';
import { temporaryFolder } from '../embedded/helpers.ts';

const program = fileURLToPath(new URL('../../src/ledger.js', import.meta.url));

/** Runs a line of shell in which `$0` is Node and `$1` the program; resolves to its standard output. */
const shell = async (line: string) =>
  (await promisify(execFile)('bash', ['-c', line, process.execPath, program])).stdout;

const hasFull = existsSync('/dev/full') ? test : test.skip;

hasFull('a full disk is a sentence and exit code 1', async (t) => {
  const said = await shell('"$0" "$1" configuration 2>&1 >/dev/full; echo $?');
  t.regex(said, /^The output cannot be written: .*ENOSPC.*\n1\n$/);
});

hasFull('a command whose remarks cannot be written goes on', async (t) => {
  t.is(await shell('"$0" "$1" nonsense 2>/dev/full; echo $?'), '2\n');
});

test('a file that somebody else has made meanwhile is not overwritten', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'november.jsonl');
  const write = openOutput(path);
  async function* pieces() {
    yield 'of one';
    await writeFile(path, 'of another');
  }
  await t.throwsAsync(write(pieces()), { message: `${path} exists and is not overwritten` });
  t.is(await readFile(path, 'utf8'), 'of another');
  t.deepEqual(await readdir(folder), ['november.jsonl']);
});

test('a disk that is full is named with the file, of which nothing is left', async (t) => {
  const folder = await temporaryFolder(t);
  try {
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  } catch {
    return t.pass('SKIPPED: only root can mount a small disk');
  }
  t.teardown(() => promisify(execFile)('umount', [folder]));
  const path = join(folder, 'november.jsonl');
  async function* pieces() {
    for (let count = 0; count < 3; count += 1) yield 'x'.repeat(1024 * 1024);
  }
  await t.throwsAsync(openOutput(path)(pieces()), {
    message: `${path} cannot be written: ENOSPC: no space left on device, write`,
  });
  t.deepEqual(await readdir(folder), []);
});

test('a file in a folder that does not exist is refused at once', async (t) => {
  const folder = join(await temporaryFolder(t), 'november');
  const path = join(folder, 'november.jsonl');
  t.throws(() => openOutput(path), { message: `${path} cannot be written: there is no folder ${folder}` });
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  test(`${signal} leaves nothing of a file that may hold personal data`, async (t) => {
    const folder = await temporaryFolder(t);
    const [path, output] = [join(folder, 'aminah.json'), new URL('../../src/cli/output.ts', import.meta.url)];
    const script = `
    import { openOutput } from ${JSON.stringify(output.href)};
    async function* pieces() {
      yield 'personal data';
      process.kill(process.pid, '${signal}');
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    await openOutput(${JSON.stringify(path)})(pieces());`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    await once(child, 'exit');
    t.deepEqual(await readdir(folder), []);
    t.is(child.exitCode, 130);
  });
