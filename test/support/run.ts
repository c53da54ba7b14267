// All tests, as `npm test` runs them: the files that start whole stacks one after another, and beside them the others.
// A stack that waits for its processes leaves the processor to the others; two stacks at once would miss their timeouts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ava = fileURLToPath(new URL('../../node_modules/.bin/ava', import.meta.url));
/** Longer than any test may take: ava itself ends a run in which nothing happens for two minutes, if it can. */
const silenceMs = 6 * 60_000;

const running: ChildProcess[] = [];
let failed = false;
const silence = setTimeout(() => {
  process.stderr.write('No test ended for six minutes: the run is ended.\n');
  failed = true;
  for (const child of running) child.kill('SIGKILL');
}, silenceMs);

/** Runs ava on some files; its lines are shown as they come, among those of the other run. */
async function run(...args: readonly string[]): Promise<void> {
  const child = spawn(ava, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  createInterface(child.stdout).on('line', (line) => {
    silence.refresh();
    process.stdout.write(`${line}\n`);
  });
  // Not `close`: a process that outlives ava may hold its output.
  const [code] = await once(child, 'exit');
  failed ||= code !== 0;
}

await Promise.all([
  run('--concurrency=1', 'test/{e2e,embedded,fuzz}/**/*.test.ts'),
  run('--concurrency=3', 'test/!(e2e|embedded|fuzz)/**/*.test.ts'),
]);
// What ava wrote last may still be in the pipes.
setTimeout(() => process.exit(failed ? 1 : 0), 500);
