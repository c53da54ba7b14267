import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as collect } from 'node:stream/consumers';
import { createLogOutput } from '@ledger/kernel/log-output.ts';
import test from 'ava';

const writer = `
  const { createLogOutput } = await import(${JSON.stringify(new URL('../../packages/kernel/log-output.ts', import.meta.url).href)});
  const output = createLogOutput();
  for (let line = 0; line < 40_000; line += 1) output.write('a line of about sixty characters, over and over again: ' + line + '\\n');
  process.stderr.write('done');
`;

/** The writer's output goes through a real pipe to the given shell command. */
async function pipe(reader: string): Promise<string> {
  const child = spawn('sh', ['-c', `"$NODE" --input-type=module -e "$WRITER" | ${reader}`], {
    env: { NODE: process.execPath, WRITER: writer },
  });
  const [text] = await Promise.all([collect(child.stdout), once(child.stderr, 'data'), once(child, 'exit')]);
  return text;
}

test('a reader that does not read yet holds nothing up', async (t) => {
  // A pipe holds 64 KiB: what the writer has over it keeps for the next line, or drops.
  const text = await pipe('(sleep 2; cat)');
  t.regex(text, /^a line of about sixty/);
});

test('a reader that has gone ends the logging, not the process', async (t) => {
  t.is(await pipe('head -n 1'), 'a line of about sixty characters, over and over again: 0\n');
});

test('a file gets every line, in order', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-output-'));
  const file = join(folder, 'out.log');
  const fd = openSync(file, 'a');
  const output = createLogOutput(fd);
  for (const line of ['one\n', 'two\n']) output.write(line);
  closeSync(fd);
  t.is(readFileSync(file, 'utf8'), 'one\ntwo\n');
  rmSync(folder, { recursive: true });
});

test('while the disk is full, lines wait; once there is room again, they are written', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-output-'));
  const file = join(folder, 'out.log');
  const fd = openSync(file, 'a');
  const output = createLogOutput(fd);
  const { writeSync } = fs;
  output.write('one\n');
  // The disk takes half a line, and then nothing.
  let room = 2;
  fs.writeSync = ((to: number, bytes: Buffer) => {
    if (room === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    room = 0;
    return writeSync(to, bytes, 0, 2);
  }) as typeof writeSync;
  syncBuiltinESMExports();
  output.write('two\n');
  output.write('three\n');
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
  output.write('four\n');
  closeSync(fd);
  t.is(readFileSync(file, 'utf8'), 'one\ntwo\nthree\nfour\n');
  rmSync(folder, { recursive: true });
});
