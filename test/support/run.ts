// All tests, as `npm test` runs them: the files that start whole stacks one after another, and beside them the others.
// A stack that waits for its processes leaves the processor to the others; two stacks at once would miss their timeouts.
// The files of some folders share a process, because loading what they import takes longer than their tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ava = `${root}node_modules/.bin/ava`;
/** Longer than any test may take: ava itself ends a run in which nothing happens for two minutes, if it can. */
const silenceMs = 6 * 60_000;
/**
 * Files that are run once more, alone, when a test of theirs failed: on a busy machine some wait in vain. More than these
 * do not fail by chance.
 */
const mostRepeated = 4;
/** For ava to name the tests that it waited for, on SIGINT. */
const lastWordsMs = 10_000;

const running: ChildProcess[] = [];
let failed = false;
/** Of which a test failed. */
const failedFiles = new Set<string>();
const silence = setTimeout(() => {
  process.stderr.write('No test ended for six minutes: the run is ended.\n');
  failed = true;
  for (const child of running) child.kill('SIGINT');
  setTimeout(() => running.forEach((child) => void child.kill('SIGKILL')), lastWordsMs);
}, silenceMs);

/**
 * Runs ava on some files; its lines are shown as they come, among those of the other run. True if it succeeded, or said
 * of each failure in which file.
 */
async function run(...args: readonly string[]): Promise<boolean> {
  const env = { ...process.env, TESTS_SHARE: 'yes' };
  const child = spawn(ava, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  const failures: (string | undefined)[] = [];
  createInterface(child.stdout).on('line', (line) => {
    silence.refresh();
    process.stdout.write(`${line}\n`);
    if (line.startsWith('  ✘ ')) failures.push(fileOfFailure(line));
  });
  // Not `close`: a process that outlives ava may hold its output.
  const [code] = await once(child, 'exit');
  for (const file of failures) if (file) failedFiles.add(file);
  return code === 0 || (failures.length > 0 && failures.every((file) => file));
}

/** The file in a line such as `✘ [fail]: http › app › title` or `✘ test/http/app.test.ts exited with …`. */
function fileOfFailure(line: string): string | undefined {
  const named = /test\/\S+\.test\.ts/.exec(line);
  if (named) return named[0];
  const path = line.replace(/^ {2}✘ (\[fail\]: )?/, '').split(' › ');
  const files = path.map((_, index) => `test/${path.slice(0, index + 1).join('/')}.test.ts`);
  return files.find((file) => existsSync(root + file));
}

/** None of their files waits for anything before it declares its tests, or has hooks, which would be those of all. */
const sharing = ['commands', 'config', 'content', 'docs', 'events', 'kernel', 'pdf', 'receipts', 'sandbox'];
const shared = `${root}test/shared/`;

function filesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).toSorted();
}

/** Writes a file for each of these folders that imports all of its tests. */
function writeShared(): void {
  rmSync(shared, { recursive: true, force: true });
  mkdirSync(shared);
  for (const folder of sharing) {
    const imports = filesOf(`test/${folder}/**/*.test.ts`).map((file) => `import '../../${file}';\n`);
    writeFileSync(`${shared}${folder}.test.ts`, imports.join(''));
  }
}

const stacks = filesOf('test/{e2e,embedded,fuzz}/**/*.test.ts');
const elsewhere = new Set([...stacks, ...filesOf(`test/{${sharing},shared}/**/*.test.ts`)]);
const others = filesOf('test/**/*.test.ts').filter((file) => !elsewhere.has(file));
writeShared();
const ends = await Promise.all([
  run('--concurrency=1', ...stacks),
  run('--concurrency=3', 'test/shared/*.test.ts', ...others),
]);
failed ||= ends.includes(false) || failedFiles.size > mostRepeated;
if (!failed && failedFiles.size > 0) {
  const files = [...failedFiles];
  failedFiles.clear();
  process.stdout.write(`\nOnce more, alone: ${files.join(', ')}\n`);
  failed = !(await run('--concurrency=1', ...files)) || failedFiles.size > 0;
  if (!failed) process.stdout.write(`\nFailed beside others, and not alone: ${files.join(', ')}\n`);
}
rmSync(shared, { recursive: true });
// What ava wrote last may still be in the pipes.
setTimeout(() => process.exit(failed ? 1 : 0), 500);
