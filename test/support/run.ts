// All tests, as `npm test` runs them: four processes that take one test file after another (in-turn.ts), as many as keep
// two cores busy while some wait. Two of them begin with the files that start whole stacks, because more stacks at once
// would miss their timeouts, and then help the others. With `--check`, `npm run check` runs beside the first tests; what
// it finds ends the run.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { outcomeOf } from './in-turn-claims.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ava = `${root}node_modules/.bin/ava`;
/** Longer than any test may take: ava itself ends a run in which nothing happens for two minutes, if it can. */
const silenceMs = 6 * 60_000;
/**
 * Files that are run once more, alone, when a test of theirs failed: on a busy or slow machine some wait in vain. More than
 * these do not fail by chance, and neither do all.
 */
const mostRepeated = 12;
/** For ava to name the tests that it waited for, on SIGINT. */
const lastWordsMs = 10_000;
const processesForStacks = 2;
const processes = Number(process.env.TEST_PROCESSES ?? 4);

let running: ChildProcess | undefined;
let isEnded = false;
const silence = setTimeout(() => endBecause('No test ended for six minutes'), silenceMs);

function endBecause(why: string): void {
  process.stderr.write(`${why}: the run is ended.\n`);
  isEnded = true;
  running?.kill('SIGINT');
  setTimeout(() => void running?.kill('SIGKILL'), lastWordsMs);
}

/** Shows what `npm run check` says when it has ended. */
async function check(): Promise<void> {
  const child = spawn('npm', ['run', 'check'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], ...said] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  process.stdout.write(said.join(''));
  if (code !== 0) endBecause('npm run check has failed');
}

/** Runs ava on some files and shows its lines as they come. True if it succeeded. */
async function run(...args: readonly string[]): Promise<boolean> {
  const env = { ...process.env, TESTS_SHARE: 'yes' };
  const child = spawn(ava, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  running = child;
  createInterface(child.stdout).on('line', (line) => {
    silence.refresh();
    process.stdout.write(`${line}\n`);
  });
  // Not `close`: a process that outlives ava may hold its output.
  const [code] = await once(child, 'exit');
  return code === 0;
}

// Of a run that was killed, they would count as test files.
rmSync(`${root}test/shared/`, { recursive: true, force: true });

const fileOf = (name: string): string => `test/${name}.test.ts`;
const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted();
const shared = `${root}test/shared/`;
const claims = mkdtempSync(join(tmpdir(), 'ledger-test-claims-'));
/**
 * These wait more than they work. One process begins with them, and the others come to them last: while several wait, the
 * cores would be idle.
 */
const waiting = [
  ...['http/api/health', 'projections/rebuild/rebuild', 'roles/frozen-postgres', 'cli/stores'],
  ...['postgres/leader-election', 'reactors/deliveries/list-and-log', 'audit/seals/sealer'],
  ...['projections/runtime/run', 'roles/lifecycle', 'projections/runtime/parking', 'event-store/grpc-faults'],
  ...['postgres/notifications', 'reactors/deliveries/worker'],
]
  .map(fileOf)
  .filter((file) => existsSync(join(root, file)));
const stacks = longestFirst(filesOf('test/{e2e,fuzz}/**/*.test.ts'));
const isOther = (file: string) => !stacks.includes(file) && !waiting.includes(file);
const others = [...longestFirst(filesOf('test/**/*.test.ts').filter(isOther)), ...waiting];
const all = [...stacks, ...others];

/** Begins with those that take longer than 20 seconds: at the end, the others would wait for them. */
function longestFirst(files: string[]): string[] {
  const long = [
    ...['e2e/deployment', 'e2e/browser', 'e2e/serve', 'e2e/alerts'],
    ...['e2e/rolling', 'e2e/postgres-away', 'e2e/erase', 'fuzz/fuzz'],
    ...['audit/verify/verify', 'http/console/scope', 'docs-site/pages', 'simulation/simulation'],
    ...['cli/database', 'conformance/conformance', 'event-store/subscription', 'http/console/languages'],
    ...['audit/export/export', 'http/server/rate-limits'],
    ...['embedded/eventstore/durability', 'embedded/eventstore/append', 'embedded/postgres', 'run'],
  ].map(fileOf);
  return [...long.filter((file) => files.includes(file)), ...files.filter((file) => !long.includes(file))];
}

/** Writes the test files of ava, one for each process. */
function writeShared(): void {
  mkdirSync(shared);
  for (let number = 1; number <= processes; number += 1) {
    const files = number <= processesForStacks ? all : others;
    const inOrder = number === processes ? [...waiting, ...files] : files;
    const args = [claims, root, inOrder].map((arg) => JSON.stringify(arg));
    const lines = [
      "import { runInTurn } from '../support/in-turn.ts';\n",
      `await runInTurn(${args.join(', ')});\n`,
    ];
    writeFileSync(`${shared}${number}.test.ts`, lines.join('\n'));
  }
}

writeShared();
const checked = process.argv.includes('--check') ? check() : undefined;
const ended = await run(`--concurrency=${processes}`, 'test/shared/*.test.ts');
const failed = all.filter((file) => outcomeOf(claims, file) !== 'passed');
// ava succeeds, too, when its configuration ends the process before any test.
let succeeded = ended && failed.length === 0;
const mayBeChance = failed.length <= mostRepeated && failed.length < all.length;
if (failed.length > 0 && mayBeChance && !isEnded) {
  process.stdout.write(`\nOnce more, alone: ${failed.join(', ')}\n`);
  succeeded = await run('--concurrency=1', ...failed);
  if (succeeded) process.stdout.write(`\nFailed beside others, and not alone: ${failed.join(', ')}\n`);
}
await checked;
rmSync(shared, { recursive: true });
rmSync(claims, { recursive: true });
// What ava wrote last may still be in the pipes.
setTimeout(() => process.exit(succeeded && !isEnded ? 0 : 1), 500);
