/** A result as a payment's state keeps it. */
import type { Held } from '@ledger/personal-data/sealed.ts';
import { isRinggit } from '../common/money.ts';
import type { PaymentMode } from '../common/payment-modes.ts';
import {
  attemptOf,
  type Outcome,
  orderOf,
  type PaymentResult,
  type RegistryFault,
  type RegistryStatus,
  type Source,
} from './payment-result.ts';
import type { Buyer } from './personal-data.ts';
import type { AttemptedPayment } from './upcast-rules.ts';

/**
 * What staff did about money in suspense: refunded it to the payer, credited it to the merchant, or explained in a note
 * why it is owed to nobody. Reversed: they found that the bank had taken back money that the merchant had.
 */
export const resolutions = ['refunded', 'credited', 'explained', 'reversed'] as const;
export type Resolution = (typeof resolutions)[number];

/** The resolutions of `ExceptionResolved`. Superseded: a later report of the same money is in the books instead. */
export const exceptionResolutions = ['refunded', 'credited', 'explained', 'superseded'] as const;
type ExceptionResolution = (typeof exceptionResolutions)[number] | 'reversed';

/** What crediting a wrong amount does to the payment: `nothing` if other money has paid it. */
export const creditEffects = ['paid', 'partlyPaid', 'nothing'] as const;
export type CreditEffect = (typeof creditEffects)[number];

/** What an event that records a result makes of it: it sets the payment's status, or ends its attempt, or is for staff. */
export const resultRoles = {
  PaymentSucceeded: 'applied',
  PaymentFailed: 'applied',
  PaymentCancelled: 'applied',
  PaymentPending: 'applied',
  AttemptEnded: 'ended',
  GatewayResultContradicted: 'contradiction',
  AmountMismatchDetected: 'amountMismatch',
  DuplicatePaymentDetected: 'duplicate',
} as const;

/** One recorded result without its evidence. Its `sellerOrderNo` is that of the attempt that it is about. */
export type RecordedResult = PaymentResult & {
  personal: Held<Buyer>;
  at: string;
  source: Source;
  role: (typeof resultRoles)[keyof typeof resultRoles];
  /** Set if the result named no order, so that `sellerOrderNo` is inferred. Not known for events of version 1. */
  isOrderInferred?: true;
  /** Set if a success has its order and its transaction from two reports, which may be of two charges. */
  isPairInferred?: true;
  /** The method that a success was booked under when it named none; no later report changes it. Not in version 1. */
  bookedAs?: PaymentMode | '';
  /** How staff settled it, or what superseded it; null until then. */
  resolved: { at: string; resolution: ExceptionResolution; note: string } | null;
  /** What it did to the payment when staff credited it, as `AmountMismatchCredited` says. */
  credited?: CreditEffect;
};

/** The registry's last answer, new or not, or why it gave none. */
export type LastRequery = { at: string; status: RegistryStatus | RegistryFault | Outcome };

type Recording = AttemptedPayment & { results: readonly RecordedResult[]; lastRequery: LastRequery | null };
type Reported = {
  at: string;
  personal: Held<Buyer>;
  result: PaymentResult;
  source: Source;
  orderNo: string | null;
};

export function withRecorded<Payment extends Recording>(
  payment: Payment,
  data: Reported,
  role: RecordedResult['role'],
): Payment {
  const { at, personal, result, source } = data;
  const sellerOrderNo = orderOf(payment, data);
  const inferred = {
    ...inferenceOf(payment, data),
    ...(result.outcome === 'succeeded' &&
      result.mode === '' &&
      data.orderNo !== null && { bookedAs: attemptOf(payment, sellerOrderNo)?.mode ?? '' }),
  };
  const added = { ...result, sellerOrderNo, ...inferred, personal, at, source, role, resolved: null };
  const isAnswer = source === 'requery' && role !== 'ended';
  const lastRequery = isAnswer ? { at, status: result.outcome } : payment.lastRequery;
  return { ...payment, results: [...disproved(payment.results, result), added], lastRequery };
}

/**
 * Whether the order of a result is inferred, as a part of its record; events of version 1 do not say. For a failure, a
 * cancellation or a pending result it is kept only where a later report can correct it: if there were several attempts
 * and it names a gateway transaction.
 */
export function inferenceOf(
  { attempts }: { attempts: readonly unknown[] },
  { orderNo, result }: { orderNo: string | null; result: PaymentResult },
): { isOrderInferred?: true } {
  const isCorrectable = attempts.length > 1 && result.gatewayTransactionId !== '';
  const isKept = result.outcome === 'succeeded' || isCorrectable;
  return isKept && orderNo !== null && result.sellerOrderNo === '' ? { isOrderInferred: true } : {};
}

/** Whether both are named, and they are not the same. */
export function differ(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other;
}

type Named = Pick<RecordedResult, 'gatewayTransactionId' | 'sellerOrderNo'>;

/**
 * A result with what another report of the same gateway transaction or the same money names. A report that names both
 * replaces what was inferred from others.
 */
export function identified<Result extends Named & Pick<RecordedResult, 'isOrderInferred'>>(
  result: Result,
  named: Named,
): Result {
  const { isOrderInferred, ...rest } = result;
  const { gatewayTransactionId: id, sellerOrderNo } = named;
  if (namesBoth(named)) return { ...rest, gatewayTransactionId: id, sellerOrderNo } as Result;
  const gatewayTransactionId = result.gatewayTransactionId || id;
  if (!isOrderInferred || sellerOrderNo === '') return { ...result, gatewayTransactionId };
  return { ...rest, gatewayTransactionId, sellerOrderNo } as Result;
}

/** The results of a payment after another report of one of them, which `GatewayResultIdentified` records. */
export function withIdentified(
  results: readonly RecordedResult[],
  named: Named & { resultNo: number },
): readonly RecordedResult[] {
  const changed = withChanged(results, named.resultNo, (result): RecordedResult => {
    const { isPairInferred: _, ...rest } = identified(result, named);
    if (namesBoth(named) || result.outcome !== 'succeeded' || !isWhole(rest)) return rest;
    return isWhole(result) ? result : { ...rest, isPairInferred: true };
  });
  const { gatewayTransactionId, sellerOrderNo } = named;
  const result = changed[named.resultNo - 1];
  return result ? disproved(changed, { ...result, gatewayTransactionId, sellerOrderNo }) : changed;
}

/** A success that names both its order and its transaction leaves other inferred pairs only what it does not name. */
function disproved(results: readonly RecordedResult[], success: PaymentResult): readonly RecordedResult[] {
  const { gatewayTransactionId: id, outcome, sellerOrderNo: orderNo } = success;
  if (outcome !== 'succeeded' || !namesBoth(success)) return results;
  return results.map((result) => {
    const { isPairInferred, ...rest } = result;
    if (!isPairInferred || !isSameAmount(result, success)) return result;
    const isOfOrder = result.sellerOrderNo === orderNo;
    if ((result.gatewayTransactionId === id) === isOfOrder) return result;
    return isOfOrder ? { ...rest, isOrderInferred: true } : { ...rest, gatewayTransactionId: '' };
  });
}

const namesBoth = ({ gatewayTransactionId, sellerOrderNo }: Named) =>
  gatewayTransactionId !== '' && sellerOrderNo !== '';

const isWhole = (result: Named & Pick<RecordedResult, 'isOrderInferred'>) =>
  namesBoth(result) && !result.isOrderInferred;

/** Whether the books no longer have the money: a later report has replaced it, or staff explained that it never was. */
export const wasTakenOut = ({ resolved, role }: Pick<RecordedResult, 'resolved' | 'role'>): boolean =>
  resolved?.resolution === 'superseded' ||
  (resolved?.resolution === 'explained' && (role === 'amountMismatch' || role === 'duplicate'));

/** Null for an amount that is unreadable or not in MYR. */
export const ringgitOf = (result: Pick<PaymentResult, 'amountSen' | 'currency'>) =>
  isRinggit(result.currency) ? result.amountSen : null;

export function isSameAmount(one: PaymentResult, other: PaymentResult): boolean {
  return one.amountSen === other.amountSen && isRinggit(one.currency) === isRinggit(other.currency);
}

/** The results with one of them changed, which is given by its number, counted from 1. */
export function withChanged<Result>(
  results: readonly Result[],
  resultNo: number,
  change: (result: Result) => Result,
): Result[] {
  return results.map((result, index) => (index + 1 === resultNo ? change(result) : result));
}
