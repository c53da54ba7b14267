// The simulator as people run it, in processes of its own: it replaces parts of Node.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { neverStartedCluster } from '../support/postgres.ts';
import { mutants } from './mutant-list.ts';
import { editsOf } from './mutants.ts';

const run = promisify(execFile);
const main = fileURLToPath(new URL('./main.ts', import.meta.url));

async function simulate(...args: string[]): Promise<string> {
  const env = { ...process.env, SIMULATION_CLUSTER: await neverStartedCluster() };
  const { stdout } = await run(process.execPath, [main, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

test('a seed gives the same history alone as after another, printed or not, and nothing unknown is wrong', async (t) => {
  t.timeout(300_000);
  const alone = await simulate('--seed', '7', '--payments', '4');
  const printed = await simulate('--seed', '6', '--seeds', '2', '--payments', '4', '--history');
  const [line = ''] = alone.split('\n');
  t.regex(line, /^seed 7 {2}[0-9a-f]{32} /);
  t.true(printed.split('\n').includes(line));
});

test('a mutant is found in the plan that once showed its fault', async (t) => {
  t.timeout(300_000);
  t.regex(
    await simulate('--mutant', 'keys-uncompared'),
    /^keys-uncompared: found by the plan wrong-key: two-payments/m,
  );
});

test('each mutant fits the program as it is', (t) => {
  for (const [name, mutant] of Object.entries(mutants))
    for (const { file, code } of editsOf(mutant))
      t.is(readFileSync(file, 'utf8').split(code).length, 2, name);
});
