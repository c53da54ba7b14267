// How what a process has started is stopped.
import test from 'ava';
import { stopAll } from '../../src/roles/lifecycle.ts';

test('everything is stopped in the reverse order, also when something fails, and the first failure is thrown', async (t) => {
  const stopped: string[] = [];
  const part = (name: string, failure?: Error) => ({
    async stop() {
      stopped.push(name);
      if (failure) throw failure;
    },
  });
  const first = new Error('first');
  await t.throwsAsync(stopAll([part('a'), part('b', new Error('second')), part('c', first), part('d')]), {
    is: first,
  });
  t.deepEqual(stopped, ['d', 'c', 'b', 'a']);
});
