/**
 * The standing of a payment: its status as people are told it. The two differ while staff have to decide about a wrong
 * amount, and where a pending attempt has ended without a new status.
 */
import type { PaymentStatus, RequestedPayment } from './payment.ts';
import type { RecordedResult } from './recorded-result.ts';
import { openPendings } from './requery-schedule.ts';

export type Standing = PaymentStatus | 'wrongAmount';

type Settleable = Pick<RecordedResult, 'credited' | 'role' | 'resolved'>;
type WithResults<Result> = { results: readonly Result[] };

/** The successes with another amount or currency, in order, without those that a later report replaced. */
export function wrongAmountsOf<Result extends Settleable>({ results }: WithResults<Result>): Result[] {
  return results.filter(
    ({ role, resolved }) => role === 'amountMismatch' && resolved?.resolution !== 'superseded',
  );
}

/**
 * The wrong amounts that keep the payer from paying: staff have yet to decide about them, or credited them in an earlier
 * version, without saying what that pays. None once the payment has succeeded.
 */
export function heldWrongAmounts<Result extends Settleable>(
  payment: WithResults<Result> & { status: PaymentStatus },
): Result[] {
  if (payment.status === 'succeeded') return [];
  return wrongAmountsOf(payment).filter(
    ({ credited, resolved }) => resolved === null || (resolved.resolution === 'credited' && !credited),
  );
}

export function standingOf(
  payment: Pick<RequestedPayment, 'status' | 'attempts' | 'results' | 'paidSen'>,
): Standing {
  const { paidSen, status } = payment;
  if (heldWrongAmounts(payment).length > 0) return 'wrongAmount';
  const isPending = openPendings(payment).length > 0;
  // A pending attempt may have ended without a new status, for example by a wrong amount that staff refunded.
  if (status === 'pending' && !isPending) return paidSen ? 'partlyPaid' : 'requested';
  // The end of another attempt may have set the status while this one is still pending.
  return isPending && (status === 'failed' || status === 'cancelled') ? 'pending' : status;
}

/** Whether the merchant has cancelled it or it has expired, and that is recorded. */
export function isEnded({ results }: WithResults<Pick<RecordedResult, 'source'>>): boolean {
  return results.some(({ source }) => source === 'merchant' || source === 'expiry');
}

/** Whether nobody may begin to pay it at a time (UTC). A success that still arrives pays it. */
export function isClosed(payment: RequestedPayment, at: string): boolean {
  const { expiresAt } = payment.request;
  return isEnded(payment) || (expiresAt !== undefined && expiresAt <= at);
}
