/** What the gateway, the registry or staff report of an attempt to pay, and which attempt they speak of. */
import { enums, type Infer, nullable, object, record, string } from 'superstruct';
import { type PaymentMode, paymentModes } from '../kernel/payment-modes.ts';
import { sen, utc } from '../kernel/structs.ts';

export const outcomes = ['succeeded', 'failed', 'cancelled', 'pending'] as const;
export type Outcome = (typeof outcomes)[number];

/** Fields are `''` or null where the report had nothing readable. */
export const PaymentResult = object({
  outcome: enums(outcomes),
  /** `''` where they named no method, or one we do not know (`raw` keeps it). */
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
  /** What its records report, oldest first: several only for several successes, none where no result is known. */
  results: readonly PaymentResult[];
  /** The record with this status, as received; empty where there is none. */
  raw: Record<string, string>;
};

type ResultIds = Pick<PaymentResult, 'sellerOrderNo' | 'gatewayTransactionId' | 'mode'>;
type AttemptIds = { mode: PaymentMode; sellerOrderNo: string };

/** The part of a payment that tells which attempt a result speaks of. */
type Attempted<Attempt extends AttemptIds> = {
  attempts: readonly Attempt[];
  results: readonly Pick<ResultIds, 'sellerOrderNo' | 'gatewayTransactionId'>[];
};

/**
 * The seller order a result speaks of: the one it names; else, as the registry's records name none, that of an
 * earlier result of the same gateway transaction; else the latest attempt's by the method it names; else the latest
 * attempt's; `''` before the first.
 */
export function sellerOrderOf(payment: Attempted<AttemptIds>, result: ResultIds): string {
  if (result.sellerOrderNo !== '') return result.sellerOrderNo;
  const known = payment.results.find(
    ({ gatewayTransactionId: id }) => id !== '' && id === result.gatewayTransactionId,
  );
  const attempt = payment.attempts.findLast(({ mode }) => mode === result.mode) ?? payment.attempts.at(-1);
  return known?.sellerOrderNo ?? attempt?.sellerOrderNo ?? '';
}

/** The attempt a result speaks of; one that names an order we never made is taken for the latest. */
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
