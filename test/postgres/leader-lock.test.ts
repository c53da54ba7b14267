import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';
import { withLeaderLock } from '../../src/postgres/leader-lock.ts';
import { createDatabase } from '../support/postgres.ts';

test('a leader that is stopped loses the lead, and does not take it for kept when it continues', async (t) => {
  t.timeout(90_000);
  const { url } = await createDatabase();
  const child = fork(fileURLToPath(new URL('./leader-child.ts', import.meta.url)), [url]);
  t.teardown(() => child.kill('SIGKILL'));
  t.deepEqual(await once(child, 'message').then(([message]) => message), 'leads');
  child.kill('SIGSTOP');
  const lock = {
    databaseUrl: url,
    name: 'work',
    runtime: systemRuntime,
    signal: new AbortController().signal,
  };
  const taken = await withLeaderLock(lock, async () => {});
  t.true(taken);
  const lost = once(child, 'message');
  child.kill('SIGCONT');
  t.deepEqual((await lost)[0], 'lost');
});
