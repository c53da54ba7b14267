// When a worker looks for deliveries that are due.
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { startDeliveryWorker } from '../../../src/reactors/deliveries/worker.ts';
import { testRuntime } from '../../support/runtime.ts';
import { log } from '../helpers.ts';

test('a worker looks when it is woken, also while it looks, and after a pause; otherwise it waits', async (t) => {
  const pauses = new Set<() => void>();
  const looks: (() => void)[] = [];
  const worker = startDeliveryWorker({
    name: 'callbacks',
    kind: 'callback',
    concurrency: { total: 1, perReceiver: 1, perMerchant: 1 },
    queue: { claim: () => new Promise<[]>((resolve) => looks.push(() => resolve([]))) },
    log,
    runtime: testRuntime({
      async sleep(_, signal) {
        const { promise, resolve } = Promise.withResolvers<void>();
        pauses.add(resolve);
        signal?.addEventListener('abort', () => resolve());
        await promise;
        pauses.delete(resolve);
      },
    }),
  } as unknown as Parameters<typeof startDeliveryWorker>[0]);
  t.teardown(() => worker.stop());
  const ends = async () => {
    looks.at(-1)?.();
    await setImmediate();
  };
  await setImmediate();
  worker.wake();
  await ends();
  t.is(looks.length, 2, 'woken while it looked');
  await ends();
  t.is(looks.length, 2, 'it waits');
  t.is(pauses.size, 1);
  for (const pauseEnds of pauses) pauseEnds();
  await setImmediate();
  t.is(looks.length, 3, 'after the pause');
  await ends();
  worker.wake();
  await setImmediate();
  t.is(looks.length, 4, 'woken while it waited');
  const stopped = worker.stop();
  await ends();
  await stopped;
  t.deepEqual([looks.length, pauses.size], [4, 0], 'stopped while it looked');
});
