/** What is started for all tests of a file, as `t` is for one test: it ends after the last test, the youngest first. */
import test, { type ExecutionContext } from 'ava';

/** Whose end ends what was started: a test, or the whole file. */
export type Owner = Pick<ExecutionContext, 'teardown'>;

const ends: (() => unknown)[] = [];
test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

export const wholeFile: Owner = { teardown: (end) => void ends.push(end) };
