/** The results of a payment that staff have to settle, because they do not agree with its status or its amount. */
import type { Sen } from '../kernel/money.ts';
import type { RecordedResult, RequestedPayment } from './payment.ts';

export const exceptionKinds = ['contradiction', 'amountMismatch', 'duplicate', 'lateSuccess'] as const;
export type ExceptionKind = (typeof exceptionKinds)[number];

export type PaymentException = {
  /** The number of the payment's recorded result, counted from 1. */
  resultNo: number;
  kind: ExceptionKind;
  /** When it was recorded. */
  at: string;
  /** As the result reported it; null where that was unreadable. */
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
  if (role === 'ended') return null;
  if (role !== 'applied') return role;
  return outcome === 'succeeded' && receipt?.late ? 'lateSuccess' : null;
}

/** The money of these two is in suspense until staff settle it. */
export function holdsMoneyInSuspense(kind: ExceptionKind): boolean {
  return kind === 'amountMismatch' || kind === 'duplicate';
}
