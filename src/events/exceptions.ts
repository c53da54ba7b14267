/** The results of a payment that staff have to resolve, because they do not agree with its status or its amount. */
import type { Sen } from '../common/money.ts';
import { outstandingSen } from './adjustments.ts';
import { chargeContradictedBy } from './charges.ts';
import type { RequestedPayment } from './payment.ts';
import { type RecordedResult, type Resolution, ringgitOf } from './recorded-result.ts';

export const exceptionKinds = ['contradiction', 'amountMismatch', 'duplicate', 'lateSuccess'] as const;
export type ExceptionKind = (typeof exceptionKinds)[number];

/** In the order in which they were recorded, settled or not. */
export function exceptionsOf(payment: RequestedPayment) {
  return payment.results.flatMap((result, index) => {
    const kind = exceptionKindOf(payment, result);
    if (kind === null) return [];
    const { at, resolved } = result;
    // `resultNo` is the number of the payment's recorded result, counted from 1.
    return [{ resultNo: index + 1, kind, at, amountSen: ringgitOf(result), resolved }];
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

export function resolutionsFor(
  payment: RequestedPayment,
  { kind, resultNo }: { kind: ExceptionKind; resultNo: number },
): Resolution[] {
  if (!holdsMoneyInSuspense(kind))
    return chargeContradictedBy(payment, resultNo) ? ['reversed', 'explained'] : ['explained'];
  const canCredit = kind === 'duplicate' || creditableSen(payment, resultNo) !== null;
  return canCredit ? ['refunded', 'credited', 'explained'] : ['refunded', 'explained'];
}

/**
 * The amount of a wrong amount that can be credited; null if it is unreadable or not in MYR. The land registry is told
 * that each item is paid in full: less than all items cannot be credited there.
 */
export function creditableSen(payment: RequestedPayment, resultNo: number): Sen | null {
  const result = payment.results[resultNo - 1];
  const amountSen = result && ringgitOf(result);
  if (!amountSen) return null;
  const isEnough = payment.request.channel === 'generic' || amountSen >= outstandingSen(payment);
  return isEnough || payment.status === 'succeeded' ? amountSen : null;
}
