/** What is started for all tests of a file, as `t` is for one test: it ends after the last test, the youngest first. */
import { type ExecutionContext, registerCompletionHandler } from 'ava';

/** Whose end ends what was started: a test, the whole file, or its process, which may run other files too. */
export type Owner = Pick<ExecutionContext, 'teardown'>;

const ofFile: (() => unknown)[] = [];
const ofProcess: (() => unknown)[] = [];
// Not a hook, which has to be declared in the same turn as the tests: what is started here is awaited before them.
registerCompletionHandler(() => void endProcess());

/** Where a process runs several files, in-turn.ts calls it after each. */
export async function endFile(): Promise<void> {
  for (const end of ofFile.splice(0).toReversed()) await end();
}

async function endProcess(): Promise<void> {
  await endFile();
  for (const end of ofProcess.toReversed()) await end();
  // Otherwise it ends when nothing is left to wait for, and a connection that a test has paused is there for minutes.
  process.exit();
}

export const wholeFile: Owner = { teardown: (end) => void ofFile.push(end) };
export const wholeProcess: Owner = { teardown: (end) => void ofProcess.push(end) };
