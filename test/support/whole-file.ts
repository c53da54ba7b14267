/** What is started for all tests of a file, as `t` is for one test: it ends after the last test, the youngest first. */
import { type ExecutionContext, registerCompletionHandler } from 'ava';

/** Whose end ends what was started: a test, or the whole file. */
export type Owner = Pick<ExecutionContext, 'teardown'>;

const ends: (() => unknown)[] = [];
// Not a hook, which has to be declared in the same turn as the tests: what is started here is awaited before them.
registerCompletionHandler(() => void endAll());

async function endAll(): Promise<void> {
  for (const end of ends.toReversed()) await end();
}

export const wholeFile: Owner = { teardown: (end) => void ends.push(end) };
