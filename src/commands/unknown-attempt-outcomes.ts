/** The verdict of staff on an attempt whose outcome nobody else knows. */
import type { Sen } from '../common/money.ts';
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import { nothingReported, type ReportedResult } from '../events/payment-result.ts';
import { openPendings } from '../events/requery-schedule.ts';
import { unknownOutcomesOf } from '../events/unknown-attempt-outcomes.ts';
import { endingOnly } from './attempt-end.ts';
import { afterEvents, type PaymentDecision, Refused } from './decider.ts';
import { recordGatewayResult } from './payment-result.ts';

/** The payer was charged, or was not. */
export const verdicts = ['succeeded', 'failed'] as const;
export type Verdict = (typeof verdicts)[number];

export type GiveVerdict = {
  type: 'GiveVerdict';
  at: string;
  /** Which of the payment's unknown outcomes, counted from 1. */
  no: number;
  outcome: Verdict;
  /** What the payer was charged; null if nothing. */
  amountSen: Sen | null;
  /** `''` where it is not known. */
  gatewayTransactionId: string;
  /** What the verdict is based on: where others can check it. */
  evidence: string;
};

/** Decides the verdict like any result, with the source `staff`. */
export function giveVerdict(
  { at, no, outcome, amountSen, gatewayTransactionId, evidence }: GiveVerdict,
  state: RequestedPayment,
): PaymentDecision {
  const unknown = unknownOutcomesOf(state).find((each) => each.no === no);
  if (!unknown) return new Refused('unknown_exception', 'This payment has no such exception');
  const { orderNo, settled } = unknown;
  const isNumberKnown = ['', settled?.gatewayTransactionId].includes(gatewayTransactionId);
  const isSame = settled?.outcome === outcome && settled.amountSen === amountSen && isNumberKnown;
  if (isSame && settled.source === 'staff') return [];
  if (settled)
    return new Refused('exception_resolved', 'The outcome of this attempt has become known meanwhile');
  const result: ReportedResult = {
    ...nothingReported,
    outcome,
    mode: state.attempts.find(({ sellerOrderNo }) => sellerOrderNo === orderNo)?.mode ?? '',
    sellerOrderNo: orderNo,
    gatewayTransactionId,
    amountSen,
    buyerName: '',
    raw: { verdict: outcome, evidence },
  };
  const decided = settle(result, { at, no }, state);
  if (decided) return decided;
  if (outcome === 'failed' && gatewayTransactionId === '') {
    // It may look like a repeat of the failure of another transaction of the same order.
    const pending = openPendings(state).findLast((each) => each.sellerOrderNo === orderNo);
    const named = { ...result, gatewayTransactionId: pending?.gatewayTransactionId ?? '' };
    const ended = settle(named, { at, no }, state);
    if (ended) return ended;
  }
  return new Refused('charge_recorded', 'This charge is already recorded, for another attempt');
}

/** Null if the result does not settle the outcome. */
function settle(
  result: ReportedResult,
  { at, no }: Pick<GiveVerdict, 'at' | 'no'>,
  state: RequestedPayment,
): readonly PaymentEvent[] | null {
  const events = recordGatewayResult({ at, source: 'staff', verified: true, result }, state);
  // A success contradicts nothing but another amount of the same charge.
  const contradicts = events.some(({ type }) => type === 'GatewayResultContradicted');
  const decided = events.flatMap((event) => endingOnly(event, state));
  // It may only name what an earlier report lacked, and leave this attempt open.
  const outcomes = unknownOutcomesOf(afterEvents(state, decided));
  const isSettled = outcomes.some((each) => each.no === no && each.settled);
  return !isSettled || (result.outcome === 'succeeded' && contradicts) ? null : decided;
}
