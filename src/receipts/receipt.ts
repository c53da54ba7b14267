/** What a receipt says in any language: one logic for the page, the PDF and the email. */
import { currentResult, type RecordedResult, type RequestedPayment } from '../events/payment.ts';
import { attemptOf } from '../events/payment-result.ts';
import { addSen, displaySen, type Sen } from '../kernel/money.ts';
import type { PaymentMode } from '../kernel/payment-modes.ts';

export type HistoryEntry = { at: string } & (
  | { kind: 'methodChosen'; mode: PaymentMode }
  | { kind: 'requested' | 'success' | 'lateSuccess' | 'failed' | 'cancelled' | 'pending' }
  /** In suspense for staff: a success with another amount, and a second success. */
  | { kind: 'amountMismatch' | 'duplicate' }
);

export type Receipt = Readonly<ReturnType<typeof receiptOf>>;

/**
 * The receipt of a payment that succeeded, or the statement of one in any other state. Texts are `''` where there is
 * nothing to say. Amounts read `RM 1,234.50`, times are UTC.
 */
export function receiptOf(payment: RequestedPayment) {
  const { request, status } = payment;
  const result = currentResult(payment);
  const attempt = attemptOf(payment, result ?? { sellerOrderNo: '', gatewayTransactionId: '', mode: '' });
  const mode: PaymentMode | '' = result?.mode || (attempt?.mode ?? '');
  const feeSen = attempt?.chargeSen ?? (0 as Sen);
  const totalSen = addSen(request.amountSen, feeSen);
  const receiptNo = payment.receipt?.receiptNo ?? '';
  return {
    /** False for a statement, which is not a receipt. */
    isOfficial: status === 'succeeded',
    status,
    agency: request.merchant.name,
    receiptNo,
    /** When the status was reached: the bank's time where it gave one. */
    at: result?.paidAt ?? result?.at ?? request.at,
    payerName: request.payer.name || (result?.buyerName ?? ''),
    icNo: masked(request.payer.icNo),
    service: request.service,
    description: request.description,
    reference: request.reference,
    transactionId: request.transactionId,
    items: request.items.map((item, index) => ({
      description: item.description,
      titleId: item.titleId,
      /** `''` unless this is one of several paid items. */
      receiptNo: itemReceiptNo(receiptNo, index, request.items.length),
      amount: displaySen(item.amountSen),
    })),
    amount: displaySen(request.amountSen),
    /** `''` when no fee applies. */
    fee: feeSen === 0 ? '' : displaySen(feeSen),
    /** What the payer pays in all. */
    total: displaySen(totalSen),
    totalSen,
    mode,
    bank: result?.buyerBank ?? '',
    fpxNo: mode === 'fpx' || mode === 'fpx1' ? (result?.gatewayTransactionId ?? '') : '',
    orderNo: result?.sellerOrderNo || (attempt?.sellerOrderNo ?? ''),
    history: historyOf(payment),
  };
}

/** Several items are numbered `-01`, `-02`, …, because the land registry refuses the same number for two items. */
function itemReceiptNo(receiptNo: string, index: number, count: number): string {
  if (receiptNo === '' || count === 1) return '';
  return `${receiptNo}-${String(index + 1).padStart(2, '0')}`;
}

/** Keeps the last four characters. */
function masked(icNo: string): string {
  const characters = Array.from(icNo);
  const shown = characters.length > 4 ? 4 : 0;
  return '*'.repeat(characters.length - shown) + characters.slice(characters.length - shown).join('');
}

/** In order of time, without contradictions of a final status, which only staff see. */
function historyOf(payment: RequestedPayment): HistoryEntry[] {
  const requested: HistoryEntry = { at: payment.request.at, kind: 'requested' };
  const chosen = payment.attempts.map(({ at, mode }): HistoryEntry => ({ at, kind: 'methodChosen', mode }));
  const results = payment.results.flatMap((result): HistoryEntry[] => {
    const kind = kindOf(payment, result);
    return kind === null ? [] : [{ at: result.at, kind }];
  });
  const byTime = (a: HistoryEntry, b: HistoryEntry) => a.at.localeCompare(b.at);
  return [requested, ...[...chosen, ...results].sort(byTime)];
}

type ResultKind = Exclude<HistoryEntry['kind'], 'requested' | 'methodChosen'>;

function kindOf({ receipt }: RequestedPayment, { outcome, role }: RecordedResult): ResultKind | null {
  if (role === 'contradiction') return null;
  if (role !== 'applied') return role;
  if (outcome !== 'succeeded') return outcome;
  return receipt?.late ? 'lateSuccess' : 'success';
}
