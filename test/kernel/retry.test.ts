import { setImmediate } from 'node:timers/promises';
import { retry } from '@ledger/kernel/retry.ts';
import test from 'ava';

/** A runtime whose sleeps take no time and are recorded. */
function recordingRuntime() {
  const slept: number[] = [];
  let nowMs = 0;
  return {
    slept,
    monotonicMs: () => nowMs,
    random: () => 1,
    async sleep(ms: number) {
      slept.push(ms);
      await setImmediate();
      nowMs += ms;
    },
  };
}

const { signal } = new AbortController();

test('pauses double up to the longest, and progress starts them again', async (t) => {
  const runtime = recordingRuntime();
  const told: number[] = [];
  let calls = 0;
  const result = await retry(
    async (onProgress) => {
      calls += 1;
      if (calls === 5) onProgress();
      if (calls < 7) throw new TypeError(`failure ${calls}`);
      return 'done';
    },
    { runtime, signal, firstMs: 100, longestMs: 400, onFailure: (_, failures) => told.push(failures) },
  );
  t.deepEqual(told, [1, 2, 3, 4, 1, 2]);
  t.is(result, 'done');
  t.deepEqual(runtime.slept, [100, 200, 400, 400, 100, 200]);
});

test('a failure that another attempt cannot fix is thrown at once, and so is one after the time limit', async (t) => {
  const runtime = recordingRuntime();
  const failing = async () => {
    throw new RangeError('no');
  };
  await t.throwsAsync(retry(failing, { runtime, signal, shouldRetry: () => false }), { message: 'no' });
  t.deepEqual(runtime.slept, []);
  await t.throwsAsync(retry(failing, { runtime, signal, firstMs: 100, giveUpAfterMs: 350 }), {
    message: 'no',
  });
  t.deepEqual(runtime.slept, [100, 200, 50], 'the last pause ends with the time limit');
});

test('an abort during a pause ends it, with an error', async (t) => {
  const stopping = new AbortController();
  const runtime = { ...recordingRuntime(), sleep: async () => stopping.abort() };
  let calls = 0;
  const retrying = retry(
    async () => {
      calls += 1;
      throw new Error('away');
    },
    { runtime, signal: stopping.signal },
  );
  await t.throwsAsync(retrying);
  t.is(calls, 1);
});

test('the number of attempts and the pauses between them', async (t) => {
  const runtime = { ...recordingRuntime(), random: () => 0 };
  const failing = async () => {
    throw new Error('away');
  };
  const options = { runtime, firstMs: 500, longestMs: 500, maxAttempts: 3 };
  await t.throwsAsync(retry(failing, { ...options, jitter: 0 }), { message: 'away' });
  t.deepEqual(runtime.slept, [500, 500]);
  await t.throwsAsync(retry(failing, options), { message: 'away' });
  t.deepEqual(runtime.slept, [500, 500, 250, 250]);
});
