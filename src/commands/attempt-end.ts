/** The end of one attempt without success, which leaves the payment's status to the other attempts. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import type { PaymentResult, RegistryAnswer } from '../events/payment-result.ts';
import { differ } from '../events/recorded-result.ts';
import { openAttempts, openPendings } from '../events/requery-schedule.ts';
import { afterEvents } from './decider.ts';
import { type Report, recorded } from './payment-result.ts';
import { setInMotion } from './planned-deliveries.ts';
import { chargesOfAttempt, inferOrder, isSameEnd, latestChosenBy } from './same-attempt.ts';
import { isInBooks, successesOfTransaction } from './same-money.ts';

/**
 * What to record in place of an event that `recordGatewayResult` has decided. A failure of an attempt that is still open
 * contradicts no other attempt: it ends its own, and is recorded once. But if it names a charge in the books, staff decide.
 */
export function endingOnly(event: PaymentEvent, state: RequestedPayment): PaymentEvent[] {
  if (event.type !== 'GatewayResultContradicted') return [event];
  const { standing: _, ...data } = event.data;
  const { orderNo, result } = data;
  if (result.outcome !== 'failed') return [event];
  const isOfCharge = successesOfTransaction(state, result).some(isInBooks);
  if (!isOfCharge && openAttempts(state).some(({ sellerOrderNo }) => sellerOrderNo === orderNo))
    return isPendingOtherwise(orderNo, result, state) ? [] : [{ type: 'AttemptEnded', data }];
  // At another time, the bank may have taken back what it charged after all.
  const mayBeReversal = result.paidAt !== null && chargesOfAttempt(result, state).length > 0;
  const ends = state.results.filter((each) => each.role === 'ended' && each.sellerOrderNo === orderNo);
  const isRepeat = ends.some(({ paidAt }) => !mayBeReversal || paidAt === result.paidAt);
  return isRepeat ? [] : [event];
}

/** Whether the attempt is pending in another transaction of the gateway, which a failure of this one does not end. */
function isPendingOtherwise(
  orderNo: string | null,
  { gatewayTransactionId }: Pick<PaymentResult, 'gatewayTransactionId'>,
  state: RequestedPayment,
): boolean {
  return openPendings(state).some(
    (pending) =>
      pending.sellerOrderNo === orderNo && differ(pending.gatewayTransactionId, gatewayTransactionId),
  );
}

type OtherRecord = RegistryAnswer['others'][number];

/**
 * Ends the open attempts that the registry's other records report as failed; `given` is what all of these results share.
 * Records name no order: one whose gateway transaction is known is about that order; the rest are about the open attempts
 * by their method, the latest record about the latest attempt that had been chosen by then.
 */
export function endAttempts(
  given: Omit<Report, 'result'>,
  { others, results }: Pick<RegistryAnswer, 'others' | 'results'>,
  state: RequestedPayment,
): PaymentEvent[] {
  const open = new Map(openAttempts(state).map((attempt) => [attempt.sellerOrderNo, attempt]));
  // These attempts have a result of their own in the answer.
  for (const result of results) open.delete(inferOrder(state, result));
  const ended: PaymentEvent[] = [];
  const end = (record: OtherRecord, orderNo: string) => {
    open.delete(orderNo);
    if (isPendingOtherwise(orderNo, record, state)) return;
    const { status: _, ...result } = record;
    const data = recorded({ ...given, result: { outcome: 'failed', ...result } }, state);
    ended.push(ending({ ...data, orderNo }, afterEvents(state, ended)));
  };
  const unknown = others.filter((record) => {
    const known = state.results.find((result) => isSameRecord(record, result));
    if (known && record.status === 'failed' && open.has(known.sellerOrderNo))
      end(record, known.sellerOrderNo);
    return !known;
  });
  for (const [mode, records] of Map.groupBy(unknown, (record) => record.mode)) {
    const isOfMethod = (attempt: { mode: string }) => mode === '' || attempt.mode === mode;
    let attempts = [...open.values()].filter(isOfMethod);
    for (const record of records.toReversed()) {
      const chosen = latestChosenBy(record.paidAt, attempts);
      // Only attempts that have ended were chosen by then: the record is about one of those.
      if (!chosen && latestChosenBy(record.paidAt, state.attempts.filter(isOfMethod))) continue;
      const attempt = chosen ?? attempts.at(-1);
      attempts = attempts.filter((each) => each !== attempt);
      if (attempt && record.status === 'failed') end(record, attempt.sellerOrderNo);
    }
  }
  return ended;
}

/** The event for the end of an attempt. A pending payment has failed once nothing of it is pending any more. */
function ending(data: ReturnType<typeof recorded>, state: RequestedPayment): PaymentEvent {
  const ended: PaymentEvent = { type: 'AttemptEnded', data };
  const isAll =
    state.status === 'pending' &&
    openPendings(state).length > 0 &&
    openPendings(afterEvents(state, [ended])).length === 0;
  return isAll ? { type: 'PaymentFailed', data: { ...data, ...setInMotion(state, 'failed') } } : ended;
}

/**
 * Whether a recorded result is of the same gateway transaction, or of the same failure; where neither names a transaction,
 * of the same method and time.
 */
function isSameRecord(record: OtherRecord, result: RequestedPayment['results'][number]): boolean {
  if (record.status === 'failed' && isSameEnd(result, { ...record, outcome: 'failed' })) return true;
  if (record.gatewayTransactionId !== '' || result.gatewayTransactionId !== '')
    return record.gatewayTransactionId === result.gatewayTransactionId;
  return result.source === 'requery' && result.mode === record.mode && result.paidAt === record.paidAt;
}
