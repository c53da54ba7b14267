/** When a delivery that failed is tried again, and when it is given up. */
import type { RecordDeliveryAttempt } from '../../commands/deliveries.ts';
import type { Delivery } from '../../events/deliveries.ts';
import type { DeliveryOutcome } from './delivery-task.ts';

/** A receiver that asks for more is asked again after this. */
const longestRetryAfterMs = 24 * 60 * 60 * 1000;
/** Up to this part of a pause, either way, so that what failed together does not come back together. */
const jitter = 0.2;

/**
 * What is recorded of a try. `scheduleMs` holds the pause before each try, the first of which is made at once.
 * `random` is from 0 to 1.
 */
export function recordedOutcome(
  outcome: DeliveryOutcome,
  { triesOfSchedule }: Pick<Delivery, 'triesOfSchedule'>,
  { scheduleMs, now, random }: { scheduleMs: readonly number[]; now: Date; random: number },
): RecordDeliveryAttempt['outcome'] {
  if (outcome.kind !== 'failed') return outcome;
  const { status, reason, retryAfterMs } = outcome;
  const pauseMs = scheduleMs[triesOfSchedule + 1];
  if (pauseMs === undefined) return { kind: 'abandoned', status, reason };
  const jitteredMs = pauseMs * (1 + jitter * (2 * random - 1));
  const waitMs = Math.max(jitteredMs, Math.min(retryAfterMs, longestRetryAfterMs));
  const nextAttemptAt = new Date(now.getTime() + Math.round(waitMs)).toISOString();
  return { kind: 'failed', status, reason, nextAttemptAt };
}
