/** What a receiver's HTTP answer means for a delivery, whoever the receiver is: content/docs/deliveries.md. */
import { AddressRefused } from '../../clients/outbound/address-guard.ts';
import { NoAnswer, type OutboundAnswer } from '../../clients/outbound/post.ts';
import type { DeliveryOutcome } from './delivery-task.ts';

const gone = 410;
const tooMany = 429;

export function isSuccess({ status }: Pick<OutboundAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** Of an answer whose status is no success. */
export function outcomeOfRefusal({ status, retryAfter }: OutboundAnswer, now: Date): DeliveryOutcome {
  const reason = `answered ${status}`;
  if (status === gone) return { kind: 'abandoned', status, reason };
  const isReceiverDown = status >= 500 || status === tooMany;
  return { kind: 'failed', status, reason, isReceiverDown, retryAfterMs: readRetryAfter(retryAfter, now) };
}

/** Of what PostOutbound throws; anything else is thrown on. */
export function outcomeOfError(error: unknown): DeliveryOutcome {
  if (!(error instanceof NoAnswer || error instanceof AddressRefused)) throw error;
  const isReceiverDown = error instanceof NoAnswer;
  return { kind: 'failed', status: null, reason: error.message, isReceiverDown, retryAfterMs: 0 };
}

/** Seconds or a date; 0 for what is neither. */
function readRetryAfter(text: string, now: Date): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const untilMs = Date.parse(text) - now.getTime();
  return untilMs > 0 ? untilMs : 0;
}
