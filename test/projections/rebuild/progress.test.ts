/** What is said of a rebuild while it runs. */
import test from 'ava';
import { progressText } from '../../../src/cli/progress.ts';
import { createMeter, secondsLeft, shareDone } from '../../../src/projections/rebuild/progress.ts';

const at = (commit: bigint) => ({ commit, prepare: commit });

test('the speed is that of the last ten seconds', (t) => {
  let nowMs = 0;
  const meter = createMeter({ monotonicMs: () => nowMs });
  t.is(meter(0), 0);
  nowMs = 5_000;
  t.is(meter(5_000), 1_000);
  for (nowMs = 6_000; nowMs <= 30_000; nowMs += 1_000) meter(5_000);
  t.is(meter(5_000), 0);
});

test('the share is that of the log, the time left follows from it', (t) => {
  const progress = { events: 1_284_000, position: at(600n), head: at(1_000n), eventsPerSecond: 18_400 };
  t.is(shareDone(progress), 0.6);
  t.is(Math.round(secondsLeft(progress) ?? 0), 47);
  t.is(progressText('payments', progress), 'payments 60 %, 1,284,000 events, 18,400/s, 0:47 left');
  t.is(secondsLeft({ ...progress, eventsPerSecond: 0 }), null);
  t.is(secondsLeft({ ...progress, position: at(2_000n) }), 0);
  t.is(
    progressText('users', { ...progress, events: 0, position: null, eventsPerSecond: 0 }),
    'users 0 %, 0 events, 0/s',
  );
  t.regex(progressText('payments', { ...progress, eventsPerSecond: 100 }), /2:22:41 left$/);
});
