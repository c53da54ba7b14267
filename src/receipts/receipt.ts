/** What a receipt says in any language: one logic for the page, the PDF and the email. */
import { addSen, displaySen, type Sen } from '../common/money.ts';
import type { PaymentMode } from '../common/payment-modes.ts';
import { outstandingSen } from '../events/adjustments.ts';
import { bookedModeOf, priceOf } from '../events/charges.ts';
import type { OpenPayment } from '../events/open-payment.ts';
import { currentResult, type RequestedPayment } from '../events/payment.ts';
import { attemptOf } from '../events/payment-result.ts';
import { heldWrongAmounts, isClosed, type Standing, standingOf } from '../events/payment-standing.ts';
import { type RecordedResult, type Resolution, ringgitOf } from '../events/recorded-result.ts';
import { openAttempts } from '../events/requery-schedule.ts';

const cancelledBy = {
  payer: 'cancelledByPayer',
  merchant: 'cancelledByMerchant',
  expiry: 'expired',
} as const;
type CancelledBy = (typeof cancelledBy)[keyof typeof cancelledBy];

export type ReceiptEntry = { at: string } & (
  | { kind: 'methodChosen'; mode: PaymentMode }
  | {
      kind: 'requested' | 'success' | 'lateSuccess' | 'failed' | 'cancelled' | 'pending' | CancelledBy;
    }
  /** In suspense until staff decide: a success with another amount, and a second success; then what they decided. */
  | { kind: 'amountMismatch' | 'duplicate' | Resolution; amount: string }
);

/** What happened to the money beside the results. */
export type ReceiptNote =
  | { kind: 'credited'; amount: string }
  | { kind: 'partlyPaid'; amount: string; outstanding: string }
  | ({ kind: 'reversed' } & Returned)
  | ({ kind: 'refunded'; reference: string } & Returned);

/** `isFurther`: the money is from a charge that pays nothing of the payment. */
type Returned = { at: string; amount: string; isFurther: boolean };

export type Receipt = Readonly<ReturnType<typeof receiptOf>>;

/**
 * The receipt of a payment that succeeded, or the statement of a payment in any other state. Texts are `''` if there is
 * nothing to say. Amounts read `RM 1,234.50`, times are UTC. `asAt` is given if what happened later may be missing, `now`
 * where it matters whether the payment can still be paid.
 */
export function receiptOf(payment: OpenPayment, asAt: Date | null = null, now: Date | null = null) {
  const { access, request, status } = payment;
  const held = heldWrongAmounts(payment);
  const result = held.at(-1) ?? currentResult(payment);
  const attempt = attemptOf(payment, result?.sellerOrderNo ?? '');
  const mode = result ? bookedModeOf(payment, result) : (attempt?.mode ?? '');
  const { amountSen, feeSen, totalSen } = priceOf(payment);
  const receiptNo = payment.receipt?.receiptNo ?? '';
  const isOver = now !== null && isClosed(payment, now.toISOString()) && !isAwaited(payment);
  const told = toldOf(payment);
  // An expiry is recorded some seconds later.
  const expiredAt = isOver && told === 'requested' ? request.expiresAt : undefined;
  return {
    /** False for a statement, which is not a receipt. */
    isOfficial: status === 'succeeded',
    status: expiredAt ? 'cancelled' : told,
    /** False while the payer may have just paid, although nobody may begin to pay. */
    isClosed: isOver,
    /** `''` if nothing is missing. */
    asAt: asAt?.toISOString() ?? '',
    agency: request.merchant.name,
    receiptNo,
    /** When the status was reached: the bank's time where it gave one. */
    at: result?.paidAt ?? result?.at ?? expiredAt ?? request.at,
    access,
    payerName: request.payer.name || (result?.buyerName ?? ''),
    icNo: masked(request.payer.icNo),
    service: request.service,
    description: request.description,
    reference: request.reference,
    transactionId: request.transactionId,
    items: request.items.map(({ description, titleId, amountSen }, index) => {
      const number = String(index + 1).padStart(2, '0');
      // Numbered, because the land registry refuses the same number for two items.
      const itemNo = receiptNo === '' || request.items.length === 1 ? '' : `${receiptNo}-${number}`;
      const detail = [titleId, itemNo].filter(Boolean).join(' · ');
      /** `receiptNo` is `''` unless this is one of several paid items. */
      return { description, titleId, receiptNo: itemNo, detail, amount: displaySen(amountSen) };
    }),
    amount: displaySen(amountSen),
    /** `''` when no fee applies. */
    fee: feeSen === 0 ? '' : displaySen(feeSen),
    /** What the payer pays in all. */
    total: displaySen(totalSen),
    totalSen,
    feeSen,
    /** What was received instead of the total and not returned; null if nothing, or if a report could not be read. */
    receivedSen: receivedSenOf(payment),
    otherCharges: payment.results.flatMap((each) => otherChargeOf(payment, each)),
    mode,
    bank: result?.buyerBank ?? '',
    gatewayNo: result?.gatewayTransactionId ?? '',
    fpxNo: mode === 'fpx' || mode === 'fpx1' ? (result?.gatewayTransactionId ?? '') : '',
    orderNo: result?.sellerOrderNo || (attempt?.sellerOrderNo ?? ''),
    notes: notesOf(payment),
    history: [...entriesOf(payment), ...(expiredAt ? [{ at: expiredAt, kind: 'expired' as const }] : [])],
  };
}

/** The standing, as payers may rely on it: while an attempt is open, nobody knows that nothing was charged. */
const toldOf = (payment: RequestedPayment): Standing =>
  isAwaited(payment) ? 'requested' : standingOf(payment);

/** Whether nothing is known of the money but that an attempt is open. */
function isAwaited(payment: RequestedPayment): boolean {
  const isUnpaid = ['requested', 'failed', 'cancelled'].includes(standingOf(payment));
  return isUnpaid && openAttempts(payment).length > 0;
}

function receivedSenOf(payment: RequestedPayment): Sen | null {
  const held = heldWrongAmounts(payment).map(ringgitOf);
  const { paidSen = 0 as Sen, status } = payment;
  if (status === 'succeeded' || held.includes(null)) return null;
  const receivedSen = addSen(paidSen, ...held.map((sen) => sen ?? (0 as Sen)));
  return receivedSen === 0 ? null : receivedSen;
}

/** The amount as the gateway reported it, in its currency; `''` if that could not be read. */
function receivedText({ amountSen, currency }: RecordedResult): string {
  return amountSen === null ? '' : displaySen(amountSen, currency);
}

/** Money that was charged and does not pay the payment: instead of the amount asked for, or besides it. */
function otherChargeOf(payment: RequestedPayment, result: RecordedResult) {
  const { credited, resolved, role, sellerOrderNo } = result;
  if (role !== 'amountMismatch' && role !== 'duplicate') return [];
  // What has paid the payment, or a part of it, is in the notes.
  if (credited === 'paid' || credited === 'partlyPaid') return [];
  const resolution = resolved?.resolution;
  if (resolution === 'superseded' || resolution === 'reversed') return [];
  const feeSen = attemptOf(payment, sellerOrderNo)?.chargeSen ?? (0 as Sen);
  const kind: 'furtherCharge' | 'wrongAmount' =
    payment.status === 'succeeded' ? 'furtherCharge' : 'wrongAmount';
  const asked = displaySen(addSen(outstandingSen(payment), feeSen));
  /** What staff decided, and when; null until then. */
  const decided = resolution ? { resolution, at: resolved.at } : null;
  return [{ kind, received: receivedText(result), asked, resolved: decided }];
}

function notesOf(payment: RequestedPayment): ReceiptNote[] {
  const { adjustments = [], request, status } = payment;
  const notes: ReceiptNote[] = [];
  if (status === 'succeeded' && priceOf(payment).amountSen !== request.amountSen)
    notes.push({ kind: 'credited', amount: displaySen(request.amountSen) });
  if (standingOf(payment) === 'partlyPaid') {
    const amount = displaySen(payment.paidSen ?? (0 as Sen));
    notes.push({ kind: 'partlyPaid', amount, outstanding: displaySen(outstandingSen(payment)) });
  }
  const paying = status === 'succeeded' ? currentResult(payment) : null;
  const paidAt = paying?.resolved?.at ?? paying?.at ?? '';
  for (const adjustment of adjustments) {
    if (adjustment.kind === 'credited') continue;
    const { at, chargeNo, kind } = adjustment;
    const charge = payment.results[chargeNo - 1];
    const isPart = charge?.credited === 'partlyPaid' && at >= paidAt;
    const isFurther = paying !== null && charge !== paying && !isPart;
    const returned = { at, amount: displaySen(adjustment.amountSen), isFurther };
    if (kind === 'reversed') notes.push({ kind, ...returned });
    else notes.push({ kind, reference: adjustment.gatewayReference, ...returned });
  }
  return notes;
}

/** Keeps the last four characters of a longer text. */
function masked(icNo: string): string {
  return icNo.replace(/^.{0,4}$/su.test(icNo) ? /./gsu : /.(?=.{4})/gsu, '*');
}

/** In order of time, without what leaves the status as it is and only staff see. */
function entriesOf(payment: RequestedPayment): ReceiptEntry[] {
  const requested: ReceiptEntry = { at: payment.request.at, kind: 'requested' };
  const chosen = payment.attempts.map(({ at, mode }): ReceiptEntry => ({ at, kind: 'methodChosen', mode }));
  const results = payment.results.flatMap((result): ReceiptEntry[] => {
    const { at, resolved, role } = result;
    if (role === 'amountMismatch' || role === 'duplicate') {
      const amount = receivedText(result);
      const reported: ReceiptEntry = { at, kind: role, amount };
      if (!resolved) return [reported];
      // Another report of the same money follows.
      if (resolved.resolution === 'superseded') return [];
      return [reported, { at: resolved.at, kind: resolved.resolution, amount }];
    }
    if (role !== 'applied') return [];
    const { outcome, source } = result;
    if (source === 'payer' || source === 'merchant' || source === 'expiry')
      return [{ at, kind: cancelledBy[source] }];
    if (outcome !== 'succeeded') return [{ at, kind: outcome }];
    return [{ at, kind: payment.receipt?.late ? 'lateSuccess' : 'success' }];
  });
  const returned = (payment.adjustments ?? []).flatMap(({ amountSen, at, kind }): ReceiptEntry[] =>
    kind === 'credited' ? [] : [{ at, kind, amount: displaySen(amountSen) }],
  );
  return [requested, ...[...chosen, ...results, ...returned].sort((a, b) => a.at.localeCompare(b.at))];
}
