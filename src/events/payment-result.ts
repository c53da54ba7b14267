/** What the gateway, the registry or staff report about an attempt to pay, and which attempt it is about. */
import { enums, type Infer, nullable, object, record, string } from 'superstruct';
import { type PaymentMode, paymentModes } from '../kernel/payment-modes.ts';
import { sen, utc } from '../kernel/structs.ts';

export const outcomes = ['succeeded', 'failed', 'cancelled', 'pending'] as const;
export type Outcome = (typeof outcomes)[number];

/** Fields are `''` or null where the report had nothing readable. */
export const PaymentResult = object({
  outcome: enums(outcomes),
  /** `''` if no method is named, or an unknown one (`raw` keeps it). */
  mode: enums(['', ...paymentModes]),
  sellerOrderNo: string(),
  gatewayTransactionId: string(),
  amountSen: nullable(sen),
  /** `''` where none was given, which means MYR. */
  currency: string(),
  paidAt: nullable(utc),
  receiptNo: string(),
  buyerBank: string(),
  buyerName: string(),
  /** The fields as received, for evidence. */
  raw: record(string(), string()),
});
export type PaymentResult = Infer<typeof PaymentResult>;

export const sources = ['gateway', 'requery', 'staff'] as const;
export type Source = (typeof sources)[number];

/** The registry's statuses of a payment. It reports a cancellation as a failure. */
export const registryStatuses = ['succeeded', 'pending', 'attempted', 'failed', 'not_found'] as const;
export type RegistryStatus = (typeof registryStatuses)[number];

/** What the registry answers when it is asked about one payment. */
export type RegistryAnswer = {
  status: RegistryStatus;
  /** The results in its records, oldest first: several only if all are successes; none if none is known. */
  results: readonly PaymentResult[];
  /** The record with this status, as received; empty where there is none. */
  raw: Record<string, string>;
};

type ResultIds = Pick<PaymentResult, 'sellerOrderNo' | 'gatewayTransactionId' | 'mode'>;
type AttemptIds = { mode: PaymentMode; sellerOrderNo: string };

/** The part of a payment that determines which attempt a result is about. */
type Attempted<Attempt extends AttemptIds> = {
  attempts: readonly Attempt[];
  results: readonly Pick<ResultIds, 'sellerOrderNo' | 'gatewayTransactionId'>[];
};

/**
 * The seller order that a result is about: the one it names. The registry's records name none: then that of an earlier
 * result of the same gateway transaction, else that of the latest attempt by the method it names, else that of the
 * latest attempt; `''` before the first attempt.
 */
export function sellerOrderOf(payment: Attempted<AttemptIds>, result: ResultIds): string {
  if (result.sellerOrderNo !== '') return result.sellerOrderNo;
  const known = payment.results.find(
    ({ gatewayTransactionId: id }) => id !== '' && id === result.gatewayTransactionId,
  );
  const attempt = payment.attempts.findLast(({ mode }) => mode === result.mode) ?? payment.attempts.at(-1);
  return known?.sellerOrderNo ?? attempt?.sellerOrderNo ?? '';
}

/** The attempt that a result is about; the latest one if the result names an order that we never made. */
export function attemptOf<Attempt extends AttemptIds>(
  payment: Attempted<Attempt>,
  result: ResultIds,
): Attempt | null {
  const sellerOrderNo = sellerOrderOf(payment, result);
  return (
    payment.attempts.find((attempt) => attempt.sellerOrderNo === sellerOrderNo) ??
    payment.attempts.at(-1) ??
    null
  );
}
