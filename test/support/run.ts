// All tests, as `npm test` runs them: the files that start whole stacks one after another, and beside them the others.
// A stack that waits for its processes leaves the processor to the others; two stacks at once would miss their timeouts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ava = fileURLToPath(new URL('../../node_modules/.bin/ava', import.meta.url));

/** Runs ava on some files; the output of those that run beside others is shown at the end. */
async function run(args: readonly string[], isShownAtOnce: boolean): Promise<boolean> {
  const child = spawn(ava, args, { stdio: ['ignore', isShownAtOnce ? 'inherit' : 'pipe', 'inherit'] });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  process.stdout.write(output);
  return code === 0;
}

const results = await Promise.all([
  run(['--concurrency=1', 'test/{e2e,embedded,fuzz}/**/*.test.ts'], false),
  run(['--concurrency=3', 'test/!(e2e|embedded|fuzz)/**/*.test.ts'], true),
]);
process.exitCode = results.every(Boolean) ? 0 : 1;
