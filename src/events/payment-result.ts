/** What the gateway, the registry or staff report about an attempt to pay, and which attempt it is about. */
import { enums, type Infer, nullable, object, record, string } from 'superstruct';
import { paymentModes } from '../kernel/payment-modes.ts';
import { sen, utc } from '../kernel/structs.ts';
import { type AttemptedPayment, orderByRule1 } from './upcast-rules.ts';

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

/** The seller order that a result is about, as its event says; events of version 1 leave it to rule 1. */
export function orderOf(
  payment: AttemptedPayment,
  { orderNo, result }: { orderNo: string | null; result: PaymentResult },
): string {
  return orderNo ?? orderByRule1(payment, result);
}

/** The attempt with this seller order; the latest one if there is none, and null before the first. */
export function attemptOf<Attempt extends { sellerOrderNo: string }>(
  { attempts }: { attempts: readonly Attempt[] },
  sellerOrderNo: string,
): Attempt | null {
  return attempts.find((attempt) => attempt.sellerOrderNo === sellerOrderNo) ?? attempts.at(-1) ?? null;
}
