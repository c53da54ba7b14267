/** When a failed callback or email is attempted again, and when it is given up. The pauses are CALLBACK_RETRY_SCHEDULE. */
import type { RecordDeliveryAttempt } from '../../commands/deliveries.ts';
import type { Delivery } from '../../events/deliveries.ts';
import type { DeliveryOutcome } from './delivery-task.ts';

/** The longest Retry-After that is honoured. */
const longestRetryAfterMs = 24 * 60 * 60 * 1000;
/** Each pause varies by up to this share, so that deliveries that failed together are not repeated together. */
const jitter = 0.2;

/**
 * The outcome of an attempt whose process ended: the receiver may or may not have the delivery. It is attempted again
 * at once, but not beyond the schedule, because a delivery that crashes every process must end too.
 */
export const interrupted = {
  kind: 'interrupted',
  status: null,
  reason: 'outcome unknown, the attempt was interrupted',
} as const;

/**
 * What is recorded of an attempt. `scheduleMs` has the pause before each attempt; the first is made immediately.
 * `random` is from 0 to 1.
 */
export function recordedOutcome(
  outcome: DeliveryOutcome | typeof interrupted,
  { triesOfSchedule }: Pick<Delivery, 'triesOfSchedule'>,
  { scheduleMs, now, random }: { scheduleMs: readonly number[]; now: Date; random: number },
): RecordDeliveryAttempt['outcome'] {
  if (outcome.kind === 'delivered' || outcome.kind === 'abandoned') return outcome;
  const { status, reason } = outcome;
  const pauseMs = scheduleMs[triesOfSchedule + 1];
  if (pauseMs === undefined) return { kind: 'abandoned', status, reason };
  const jitteredMs = pauseMs * (1 + jitter * (2 * random - 1));
  const waitMs =
    outcome.kind === 'interrupted'
      ? 0
      : Math.max(jitteredMs, Math.min(outcome.retryAfterMs, longestRetryAfterMs));
  const nextAttemptAt = new Date(now.getTime() + Math.round(waitMs)).toISOString();
  return { kind: 'failed', status, reason, nextAttemptAt };
}
