/** What a receipt says in any language: one logic for the page, the PDF and the email. */
import type { Adjustment } from '../events/adjustments.ts';
import { priceOf } from '../events/charges.ts';
import type { OpenPayment } from '../events/open-payment.ts';
import { currentResult, type RequestedPayment } from '../events/payment.ts';
import { attemptOf } from '../events/payment-result.ts';
import type { RecordedResult } from '../events/recorded-result.ts';
import { displaySen } from '../kernel/money.ts';
import type { PaymentMode } from '../kernel/payment-modes.ts';
import { notesOf } from './notes.ts';

export type HistoryEntry = { at: string } & (
  | { kind: 'methodChosen'; mode: PaymentMode }
  | { kind: 'requested' | 'success' | 'lateSuccess' | 'failed' | 'cancelled' | 'pending' }
  /** In suspense until staff decide: a success with another amount, and a second success. */
  | { kind: 'amountMismatch' | 'duplicate' }
  /** What staff recorded later. */
  | { kind: Adjustment['kind'] }
);

export type Receipt = Readonly<ReturnType<typeof receiptOf>>;

/**
 * The receipt of a payment that succeeded, or the statement of a payment in any other state. Texts are `''` if there is
 * nothing to say. Amounts read `RM 1,234.50`, times are UTC. `asAt` is given if what happened later may be missing.
 */
export function receiptOf(payment: OpenPayment, asAt: Date | null = null) {
  const { access, request, status } = payment;
  const result = currentResult(payment);
  const attempt = attemptOf(payment, result?.sellerOrderNo ?? '');
  const mode: PaymentMode | '' = result?.mode || (attempt?.mode ?? '');
  const { amountSen, feeSen, totalSen } = priceOf(payment);
  const receiptNo = payment.receipt?.receiptNo ?? '';
  return {
    /** False for a statement, which is not a receipt. */
    isOfficial: status === 'succeeded',
    status,
    /** `''` if nothing is missing. */
    asAt: asAt?.toISOString() ?? '',
    agency: request.merchant.name,
    receiptNo,
    /** When the status was reached: the bank's time where it gave one. */
    at: result?.paidAt ?? result?.at ?? request.at,
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
    mode,
    bank: result?.buyerBank ?? '',
    fpxNo: mode === 'fpx' || mode === 'fpx1' ? (result?.gatewayTransactionId ?? '') : '',
    orderNo: result?.sellerOrderNo || (attempt?.sellerOrderNo ?? ''),
    notes: notesOf(payment),
    history: historyOf(payment),
  };
}

/** Keeps the last four characters of a longer text. */
function masked(icNo: string): string {
  return icNo.replace(/^.{0,4}$/su.test(icNo) ? /./gsu : /.(?=.{4})/gsu, '*');
}

/** In order of time, without what leaves the status as it is and only staff see. */
function historyOf(payment: RequestedPayment): HistoryEntry[] {
  const requested: HistoryEntry = { at: payment.request.at, kind: 'requested' };
  const chosen = payment.attempts.map(({ at, mode }): HistoryEntry => ({ at, kind: 'methodChosen', mode }));
  const results = payment.results.flatMap((result): HistoryEntry[] => {
    const kind = kindOf(payment, result);
    return kind === null ? [] : [{ at: result.at, kind }];
  });
  const adjusted = (payment.adjustments ?? [])
    .filter((each) => each.kind !== 'credited' || each.effect !== 'nothing')
    .map(({ at, kind }): HistoryEntry => ({ at, kind }));
  return [requested, ...[...chosen, ...results, ...adjusted].sort((a, b) => a.at.localeCompare(b.at))];
}

type ResultKind = Exclude<HistoryEntry['kind'], 'requested' | 'methodChosen' | Adjustment['kind']>;

function kindOf({ receipt }: RequestedPayment, { outcome, role }: RecordedResult): ResultKind | null {
  if (role === 'contradiction' || role === 'ended') return null;
  if (role !== 'applied') return role;
  if (outcome !== 'succeeded') return outcome;
  return receipt?.late ? 'lateSuccess' : 'success';
}
