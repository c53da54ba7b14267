// Runs test files one after another in one process: loading what they import takes longer than most of their tests, and
// code that has run before runs faster. Each file has a runner of ava's own, as in a process of its own, and is loaded
// when its turn comes.
import { flushCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { claim, type Outcome, recordOutcome } from './in-turn-claims.ts';
import { endFile } from './whole-file.ts';

/** Where ava says what happens in a file; it sends this to its main process. */
type StateChange = { type: string; title?: string };
type Runner = {
  chain: unknown;
  on(event: 'stateChange', listener: (change: { data: StateChange }) => void): void;
  on(event: 'finish', listener: () => void): void;
};

// What ava does with the one file of a process, base.js, is done here for each. These modules are not part of its
// interface: package.json names the version of ava exactly.
const ava = import.meta.resolve('ava');
const { default: AvaRunner } = (await import(new URL('../lib/runner.js', ava).href)) as {
  default: new (options: { file: string; projectDir: string }) => Runner;
};
const { refs } = (await import(new URL('../lib/worker/state.js', ava).href)) as {
  refs: { runnerChain: unknown };
};

// `import test from 'ava'` gives each file the functions of its own runner.
let turn = 0;
registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const isAva = /\/ava\/(entrypoints|lib\/worker)\/main\.js$/.test(resolved.url);
    return isAva ? { ...resolved, url: `${resolved.url}?turn=${turn}` } : resolved;
  },
});

// ava fails a process with promises that were rejected and that nobody waited for. This says of which file they are.
const unhandled = new Set<unknown>();
process.on('unhandledRejection', (_, promise) => void unhandled.add(promise));
process.on('rejectionHandled', (promise) => void unhandled.delete(promise));

/** Runs those of the files that no other process has claimed, in their order. */
export async function runInTurn(claims: string, root: string, files: readonly string[]): Promise<void> {
  let count = 0;
  for (const file of files) {
    if (!claim(claims, file)) continue;
    count += 1;
    const before = unhandled.size;
    const outcome = await run(file, root);
    await endFile();
    // For events of rejections to be emitted.
    await setImmediate();
    recordOutcome(claims, file, unhandled.size > before ? 'failed' : outcome);
  }
  // ava wants a test of the file that it knows. Its process ends after this one.
  test(`${count} files were run`, (t) => t.pass());
}

async function run(file: string, root: string): Promise<Outcome> {
  turn += 1;
  const path = join(root, file);
  const name = file.replace(/^test\/|\.test\.ts$/g, '').replaceAll('/', ' › ');
  const runner = new AvaRunner({ file: path, projectDir: root });
  const seen = new Set<string>();
  runner.on('stateChange', ({ data }) => {
    seen.add(data.type);
    process.send?.({ ava: data.title ? { ...data, title: `${name} › ${data.title}` } : data });
  });
  const finished = new Promise<void>((resolve) => runner.on('finish', resolve));
  refs.runnerChain = runner.chain;
  await import(pathToFileURL(path).href);
  // Otherwise written when this process ends: on a new machine, programs that tests start would compile it all again.
  flushCompileCache();
  if (!seen.has('declared-test')) throw new Error(`${file} has no test`);
  await finished;
  return seen.has('test-failed') || seen.has('hook-failed') ? 'failed' : 'passed';
}
