/** Reports of the gateway, the registry or staff about a payment attempt, and the common parts of their events. */
import { chosen } from '@ledger/kernel/matches-schema.ts';
import { utc } from '@ledger/kernel/structs.ts';
import { sealed } from '@ledger/personal-data/sealed.ts';
import {
  array,
  boolean,
  enums,
  type Infer,
  literal,
  nullable,
  object,
  optional,
  refine,
  type Struct,
  string,
} from 'superstruct';
import { sen } from '../common/money.ts';
import { paymentModes } from '../common/payment-modes.ts';
import { PlannedDelivery } from './deliveries.ts';
import { Buyer, ReceivedFields } from './personal-data.ts';
import { type AttemptedPayment, orderByRule1 } from './upcast-rules.ts';

export const outcomes = ['succeeded', 'failed', 'cancelled', 'pending'] as const;
export type Outcome = (typeof outcomes)[number];

/** It holds nothing about a person. Fields are `''` or null where the report had nothing readable. */
export const PaymentResult = object({
  outcome: enums(outcomes),
  /** `''` if no method is named, or an unknown one (the evidence keeps it). */
  mode: enums(['', ...paymentModes]),
  sellerOrderNo: string(),
  gatewayTransactionId: string(),
  amountSen: nullable(sen),
  /** `''` where none was given, which means MYR. */
  currency: string(),
  paidAt: nullable(utc),
  receiptNo: string(),
  buyerBank: string(),
});
export type PaymentResult = Infer<typeof PaymentResult>;

/** The fields that only the gateway knows, for a result from elsewhere. */
export const nothingReported = {
  mode: '',
  sellerOrderNo: '',
  gatewayTransactionId: '',
  amountSen: null,
  currency: '',
  paidAt: null,
  receiptNo: '',
  buyerBank: '',
} as const satisfies Omit<PaymentResult, 'outcome'>;

/** A result as it was read, with the name that the bank gives and, for evidence, the fields as received. */
export type ReportedResult = PaymentResult & Buyer & { raw: ReceivedFields };

/** The last three cancel: the payer on the payment page, the merchant over the API, and a request that has expired. */
export const sources = ['gateway', 'requery', 'staff', 'payer', 'merchant', 'expiry'] as const;
export type Source = (typeof sources)[number];

export const resultRecorded = {
  at: utc,
  source: enums(sources),
  /** False only for an unsigned gateway result accepted in development. */
  verified: boolean(),
  result: PaymentResult,
  personal: sealed(Buyer),
  evidence: sealed(ReceivedFields),
  /** The seller order that it is about, `''` before the first attempt; null in events of version 1, which had none. */
  orderNo: nullable(string()),
};

const byRule1 = literal('rule 1');
const plannedDeliveries = array(PlannedDelivery);

/** The fields of an event whose result sets the payment's status. */
export const statusChanged = {
  ...resultRecorded,
  /** Null in events of version 1. */
  merchantCode: nullable(string()),
  /** What the new status sets in motion; `rule 1` in events of version 1, which left it to the fold. */
  deliveries: chosen<PlannedDelivery[] | 'rule 1'>(
    (value) => (value === 'rule 1' ? byRule1 : plannedDeliveries) as Struct<PlannedDelivery[] | 'rule 1'>,
  ),
};

/** The fields of an event that tells people something although the status stays; absent if it tells nobody. */
export const announced = {
  merchantCode: optional(string()),
  deliveries: optional(plannedDeliveries),
};

/** The struct of an event whose result has one of the outcomes that its type allows. */
export function reporting<Data extends { result: PaymentResult }, Schema>(
  allowed: readonly Outcome[],
  struct: Struct<Data, Schema>,
): Struct<Data, Schema> {
  return refine(struct, 'outcome', ({ result }) => allowed.includes(result.outcome));
}

/** The registry's statuses of a payment. It reports a cancellation as a failure. */
export const registryStatuses = ['succeeded', 'pending', 'attempted', 'failed', 'not_found'] as const;
export type RegistryStatus = (typeof registryStatuses)[number];

/** Why the registry gave no usable answer: no connection, no answer in time, or an answer that cannot be read. */
export const registryFaults = ['unreachable', 'too_late', 'no_answer'] as const;
export type RegistryFault = (typeof registryFaults)[number];

/** What the registry answers when it is asked about one payment. */
export type RegistryAnswer = {
  status: RegistryStatus;
  /** What decides the payment's status: all successes, oldest first, else the latest pending or failed record, if any. */
  results: readonly ReportedResult[];
  /** All other records, oldest first. */
  others: readonly (Omit<ReportedResult, 'outcome'> & { status: RegistryStatus })[];
  /** The record with this status, as received; empty where there is none. */
  raw: ReceivedFields;
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
