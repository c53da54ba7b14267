// The example of a unit in ops/, as systemd reads it.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { temporaryFolder } from '../embedded/helpers.ts';

const analyze = '/usr/bin/systemd-analyze';
const withSystemd = existsSync(analyze) ? test : test.skip;
const run = promisify(execFile);

withSystemd('systemd finds no fault in the unit, and little that the process can reach', async (t) => {
  const example = await readFile('ops/ledger@.service', 'utf8');
  const unit = join(await temporaryFolder(t), 'ledger@http.service');
  const [, program = ''] = example.match(/^ExecStart=(\S+)/m) ?? [];
  await writeFile(unit, example.replace(program, process.execPath));
  // It reads what the unit depends on, too, which are files of this machine.
  const { stderr } = await run(analyze, ['verify', '--man=no', '--recursive-errors=no', unit]);
  t.deepEqual(
    stderr.split('\n').filter((line) => line.includes('ledger@')),
    [],
  );
  // In tenths, of 100 for no protection at all.
  await t.notThrowsAsync(run(analyze, ['security', '--offline=true', '--threshold=20', unit]));
});

withSystemd('the unit lets rebuilds and the daily verification lower their priority', async (t) => {
  const example = await readFile('ops/ledger@.service', 'utf8');
  const filters = [...example.matchAll(/^SystemCallFilter=(~?)(.+)$/gm)];
  const callsOf = async ([, , sets = '']: string[]) =>
    (await run(analyze, ['syscall-filter', ...sets.split(' ')])).stdout;
  const listed = await Promise.all(filters.map(callsOf));
  const isRefused = (_: string, index: number) => filters[index]?.[1] === '~';
  t.false(listed.filter(isRefused).join().includes('setpriority'));
  t.true(listed.some((calls, index) => !isRefused(calls, index) && calls.includes('@resources')));
});
