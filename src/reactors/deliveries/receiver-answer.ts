/** What a receiver's HTTP answer means for a delivery, for all kinds of receivers: content/docs/deliveries.md. */
import { AddressRefused } from '@ledger/outbound/address-guard.ts';
import { NoAnswer, type OutboundAnswer } from '@ledger/outbound/post.ts';
import { type DeliveryOutcome, failure } from './delivery-task.ts';

const gone = 410;
const tooManyRequests = 429;

/** For an answer with any other status. */
export function outcomeOfRefusal({ status, retryAfter }: OutboundAnswer, now: Date): DeliveryOutcome {
  const reason = `answered ${status}`;
  if (status === gone) return { kind: 'abandoned', status, reason };
  const isReceiverDown = status >= 500 || status === tooManyRequests;
  return failure(reason, { status, isReceiverDown, retryAfterMs: readRetryAfter(retryAfter, now) });
}

/** For what PostOutbound throws; rethrows any other error. */
export function outcomeOfError(error: unknown): DeliveryOutcome {
  if (error instanceof NoAnswer) return failure(error.message, { isReceiverDown: true });
  if (error instanceof AddressRefused) return failure(error.message);
  throw error;
}

/** Takes seconds or a date; 0 for anything else. */
function readRetryAfter(text: string, now: Date): number {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const untilMs = Date.parse(text) - now.getTime();
  return untilMs > 0 ? untilMs : 0;
}
