// The simulator as people run it, in processes of its own: it replaces parts of Node.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { neverStartedCluster } from '../support/postgres.ts';
import { mutants } from './mutant-list.ts';

const run = promisify(execFile);
const main = fileURLToPath(new URL('./main.ts', import.meta.url));

async function simulate(...args: string[]): Promise<string> {
  const env = { ...process.env, SIMULATION_CLUSTER: await neverStartedCluster() };
  const { stdout } = await run(process.execPath, [main, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

test('the same seed gives the same history, in which nothing unknown is wrong', async (t) => {
  t.timeout(300_000);
  const args = ['--seed', '3', '--payments', '4'];
  const [first, second] = [await simulate(...args), await simulate(...args)];
  t.is(first, second);
  t.regex(first, /^seed 3 {2}[0-9a-f]{32} /);
});

test('a mutant is found in the plan that once showed its fault', async (t) => {
  t.timeout(300_000);
  t.regex(
    await simulate('--mutant', 'keys-uncompared'),
    /^keys-uncompared: found by the plan wrong-key: two-payments/m,
  );
});

test('each mutant fits the program as it is', (t) => {
  for (const [name, { file, code }] of Object.entries(mutants))
    t.is(readFileSync(file, 'utf8').split(code).length, 2, name);
});
