// When a failed try is followed by another, and when by none.
import test from 'ava';
import { interrupted, recordedOutcome } from '../../../src/reactors/deliveries/retry-schedule.ts';
import { scheduleMs } from '../helpers.ts';

const now = new Date('2026-11-20T01:05:00.000Z');
const minute = 60_000;
const failed = {
  kind: 'failed',
  status: 503,
  reason: 'answered 503',
  isReceiverDown: true,
  retryAfterMs: 0,
} as const;

function waitMs(triesOfSchedule: number, random: number, retryAfterMs = 0): number {
  const outcome = recordedOutcome(
    { ...failed, retryAfterMs },
    { triesOfSchedule },
    { scheduleMs, now, random },
  );
  return outcome.kind === 'failed' ? Date.parse(outcome.nextAttemptAt) - now.getTime() : Number.NaN;
}

test('the documented pauses, a fifth more or less', (t) => {
  const pauses = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  for (const [tries, minutes] of pauses.entries()) {
    t.is(waitMs(tries, 0.5), minutes * minute);
    t.is(waitMs(tries, 0), minutes * minute * 0.8);
    t.is(waitMs(tries, 1), minutes * minute * 1.2);
  }
});

test('after the last pause it is abandoned, with the last answer', (t) => {
  t.deepEqual(recordedOutcome(failed, { triesOfSchedule: 9 }, { scheduleMs, now, random: 0 }), {
    kind: 'abandoned',
    status: 503,
    reason: 'answered 503',
  });
});

test('Retry-After can lengthen a pause, up to a day, but not shorten it', (t) => {
  t.is(waitMs(1, 0.5, 7 * minute), 7 * minute);
  t.is(waitMs(1, 0.5, 1), 5 * minute);
  t.is(waitMs(1, 0.5, 1000 * 24 * 60 * minute), 24 * 60 * minute);
});

test('what is delivered or abandoned is recorded as it is', (t) => {
  const delivered = { kind: 'delivered', status: 200, messageId: 'm' } as const;
  const gone = { kind: 'abandoned', status: 410, reason: 'answered 410' } as const;
  for (const outcome of [delivered, gone])
    t.deepEqual(recordedOutcome(outcome, { triesOfSchedule: 0 }, { scheduleMs, now, random: 0 }), outcome);
});

test('an attempt that was interrupted is made again at once', (t) => {
  const outcome = recordedOutcome(interrupted, { triesOfSchedule: 3 }, { scheduleMs, now, random: 1 });
  t.like(outcome, { kind: 'failed', status: null, nextAttemptAt: now.toISOString() });
});
