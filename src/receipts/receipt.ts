/** What a receipt says, made from the payment alone: one logic for the page, the PDF and the email. Languages are theirs. */
import {
  currentResult,
  type PaymentStatus,
  type RecordedResult,
  type RequestedPayment,
} from '../events/payment.ts';
import { attemptOf } from '../events/payment-result.ts';
import { addSen, displaySen, type Sen } from '../kernel/money.ts';
import type { PaymentMode } from '../kernel/payment-modes.ts';

export type ReceiptItem = {
  description: string;
  /** `''` where there is none. */
  titleId: string;
  /** Of this item alone; `''` unless paid and one of several. */
  receiptNo: string;
  amount: string;
};

export type HistoryEntry = { at: string } & (
  | { kind: 'methodChosen'; mode: PaymentMode }
  | { kind: 'requested' | 'success' | 'lateSuccess' | 'failed' | 'cancelled' | 'pending' }
  /** Set apart for staff: a success of another amount, and a second success. */
  | { kind: 'amountMismatch' | 'duplicate' }
);

/** Texts are `''` where there is nothing to say. Amounts read `RM 1,234.50`, times are UTC. */
export type Receipt = {
  /** True for a payment that succeeded; otherwise this is a statement of it, which is no receipt. */
  isOfficial: boolean;
  status: PaymentStatus;
  agency: string;
  receiptNo: string;
  /** When the status was reached: the bank's time where it gave one. */
  at: string;
  payerName: string;
  /** Masked: all but the last four characters. */
  icNo: string;
  service: string;
  description: string;
  reference: string;
  transactionId: string;
  items: readonly ReceiptItem[];
  amount: string;
  /** `''` when no charge applies. */
  charge: string;
  /** What the payer pays in all. */
  total: string;
  /** The same, to be said in words. */
  totalSen: Sen;
  mode: PaymentMode | '';
  bank: string;
  fpxNo: string;
  orderNo: string;
  history: readonly HistoryEntry[];
};

/** The receipt of a payment that succeeded, or the statement of one in any other state. */
export function receiptOf(payment: RequestedPayment): Receipt {
  const { request, status } = payment;
  const result = currentResult(payment);
  const attempt = attemptOf(payment, result ?? { sellerOrderNo: '', gatewayTransactionId: '', mode: '' });
  const mode = result?.mode || (attempt?.mode ?? '');
  const chargeSen = attempt?.chargeSen ?? (0 as Sen);
  const totalSen = addSen(request.amountSen, chargeSen);
  const receiptNo = payment.receipt?.receiptNo ?? '';
  return {
    isOfficial: status === 'succeeded',
    status,
    agency: request.merchant.name,
    receiptNo,
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
      receiptNo: itemReceiptNo(receiptNo, index, request.items.length),
      amount: displaySen(item.amountSen),
    })),
    amount: displaySen(request.amountSen),
    charge: chargeSen === 0 ? '' : displaySen(chargeSen),
    total: displaySen(totalSen),
    totalSen,
    mode,
    bank: result?.buyerBank ?? '',
    fpxNo: mode === 'fpx' || mode === 'fpx1' ? (result?.gatewayTransactionId ?? '') : '',
    orderNo: result?.sellerOrderNo || (attempt?.sellerOrderNo ?? ''),
    history: historyOf(payment),
  };
}

/** The land registry refuses one number for two items, so several items carry `-01`, `-02`, …. */
function itemReceiptNo(receiptNo: string, index: number, count: number): string {
  if (receiptNo === '' || count === 1) return '';
  return `${receiptNo}-${String(index + 1).padStart(2, '0')}`;
}

function masked(icNo: string): string {
  const characters = Array.from(icNo);
  const shown = characters.length > 4 ? 4 : 0;
  return '*'.repeat(characters.length - shown) + characters.slice(characters.length - shown).join('');
}

/** In the order of time; contradictions of a final status are for staff alone. */
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
