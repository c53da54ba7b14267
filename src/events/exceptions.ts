/** What a payment's results leave for staff to settle: money or a word of the gateway that the payment itself does not explain. */
import type { Sen } from '../kernel/money.ts';
import type { RecordedResult, RequestedPayment } from './payment.ts';

export const exceptionKinds = ['contradiction', 'amountMismatch', 'duplicate', 'lateSuccess'] as const;
export type ExceptionKind = (typeof exceptionKinds)[number];

export type PaymentException = {
  /** Its place among the payment's recorded results, counted from 1. */
  resultNo: number;
  kind: ExceptionKind;
  /** When it was recorded. */
  at: string;
  /** What the result reported; null where it said nothing readable. */
  amountSen: Sen | null;
  resolved: RecordedResult['resolved'];
};

/** In the order in which they were recorded, settled or not. */
export function exceptionsOf(payment: RequestedPayment): PaymentException[] {
  return payment.results.flatMap((result, index) => {
    const kind = exceptionKindOf(payment, result);
    const { at, amountSen, resolved } = result;
    return kind === null ? [] : [{ resultNo: index + 1, kind, at, amountSen, resolved }];
  });
}

function exceptionKindOf(
  { receipt }: RequestedPayment,
  { role, outcome }: RecordedResult,
): ExceptionKind | null {
  if (role !== 'applied') return role;
  return outcome === 'succeeded' && receipt?.late ? 'lateSuccess' : null;
}

/** Money of these two lies in suspense until staff say where it went; of the others a payment holds all there is. */
export function holdsMoneyInSuspense(kind: ExceptionKind): boolean {
  return kind === 'amountMismatch' || kind === 'duplicate';
}
