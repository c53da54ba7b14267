/**
 * What can happen to a payment, and the fold that turns its events into its state. Read top to bottom:
 * values, events, state, `evolve`. What may happen is decided in src/commands/payment.ts.
 */
import {
  array,
  boolean,
  enums,
  type Infer,
  integer,
  literal,
  min,
  nullable,
  object,
  record,
  refine,
  type Struct,
  string,
  unknown,
} from 'superstruct';
import { type EventOf, sen, utc } from '../kernel/structs.ts';
import {
  type Delivery,
  deliveryEvents,
  evolveDeliveries,
  isDeliveryEvent,
  newDelivery,
} from './deliveries.ts';

// ── Values ───────────────────────────────────────────────────────────────────────────────────────────

export const channels = ['generic', 'landreg'] as const;
export type Channel = (typeof channels)[number];

export const paymentModes = ['fpx', 'fpx1', 'cc', 'dc', 'dnqr', 'wallet'] as const;
export type PaymentMode = (typeof paymentModes)[number];

/** What a gateway or the registry can report of an attempt to pay. */
export const outcomes = ['succeeded', 'failed', 'cancelled', 'pending'] as const;
export type Outcome = (typeof outcomes)[number];

/** `''` where the other side named no method, or one we do not know (the raw field keeps it). */
const mode = enums(['', ...paymentModes]);

export const PaymentItem = object({
  description: string(),
  /** Land title id (id_hakmilik); `''` where there is none. */
  titleId: string(),
  amountSen: sen,
});
export type PaymentItem = Infer<typeof PaymentItem>;

/** Who pays, as the merchant told us; every field is `''` where it said nothing. */
export const Payer = object({
  name: string(),
  email: string(),
  icNo: string(),
  address1: string(),
  address2: string(),
  city: string(),
  postcode: string(),
  state: string(),
  phoneNo: string(),
});
export type Payer = Infer<typeof Payer>;

/** A result as the gateway, the registry or staff report it; `''` and null where they said nothing readable. */
export const PaymentResult = object({
  outcome: enums(outcomes),
  mode,
  sellerOrderNo: string(),
  gatewayTransactionId: string(),
  amountSen: nullable(sen),
  /** `''` means not said, which is MYR. */
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

/**
 * What staff did about money that was set apart: given back to the payer, credited to the merchant, or found that
 * nobody owes it, which the note explains.
 */
export const resolutions = ['refunded', 'credited', 'explained'] as const;
export type Resolution = (typeof resolutions)[number];

/** What the transaction registry can say became of a payment. It knows no cancellation: that is a failure to it. */
export const registryStatuses = ['succeeded', 'pending', 'attempted', 'failed', 'not_found'] as const;
export type RegistryStatus = (typeof registryStatuses)[number];

/** What the registry answers when it is asked about one payment. */
export type RegistryAnswer = {
  status: RegistryStatus;
  /** What its records report, oldest first: several only for several successes, none where no result is known. */
  results: readonly PaymentResult[];
  /** The record that says so, as received; empty where there is none. */
  raw: Record<string, string>;
};

// ── Events ───────────────────────────────────────────────────────────────────────────────────────────

const resultRecorded = {
  at: utc,
  source: enums(sources),
  /** False only for an unsigned gateway result taken in development. */
  verified: boolean(),
  result: PaymentResult,
};

/** An event whose result cannot say another thing than its type does. */
function reporting<Data extends { result: PaymentResult }, Schema>(
  allowed: readonly Outcome[],
  struct: Struct<Data, Schema>,
): Struct<Data, Schema> {
  return refine(struct, 'outcome', ({ result }) => allowed.includes(result.outcome));
}

export const paymentEvents = {
  PaymentRequested: object({
    at: utc,
    transactionId: string(),
    channel: enums(channels),
    merchant: object({ code: string(), id: integer(), name: string() }),
    /** The merchant's own: trans_id, or the land registry's transaksi_id. */
    reference: string(),
    amountSen: sen,
    service: string(),
    description: string(),
    items: array(PaymentItem),
    payer: Payer,
    /** `''` on the land-registry channel, whose callback address is configuration. */
    callbackUrl: string(),
    redirectUrl: string(),
    /** Land-registry branch (kod_cawangan); `''` on the generic channel. */
    branchCode: string(),
    extra: record(string(), unknown()),
  }),
  PaymentMethodChosen: object({
    at: utc,
    attempt: min(integer(), 1),
    mode: enums(paymentModes),
    bankCode: string(),
    chargeSen: sen,
    sellerOrderNo: string(),
  }),
  PaymentSucceeded: reporting(
    ['succeeded'],
    object({
      ...resultRecorded,
      receiptNo: string(),
      /** It came after a failure or cancellation that no newer attempt had followed. */
      late: boolean(),
    }),
  ),
  PaymentFailed: reporting(['failed'], object(resultRecorded)),
  PaymentCancelled: reporting(['cancelled'], object(resultRecorded)),
  PaymentPending: reporting(['pending'], object(resultRecorded)),
  /** A result that clashes with what is already known and changes nothing; for staff. */
  GatewayResultContradicted: reporting(
    ['failed', 'cancelled', 'pending'],
    object({ ...resultRecorded, standing: enums(outcomes) }),
  ),
  /** A success of another amount or currency: not paid, stays open; for staff. */
  AmountMismatchDetected: reporting(
    ['succeeded'],
    object({ ...resultRecorded, expectedSen: sen, currency: literal('MYR') }),
  ),
  /** A second success with another gateway transaction id: money to refund; for staff. */
  DuplicatePaymentDetected: reporting(
    ['succeeded'],
    object({ ...resultRecorded, firstGatewayTransactionId: string() }),
  ),
  /** The registry was asked and said nothing new: the status stays. */
  RequeryAnswered: object({ at: utc, status: enums(registryStatuses), raw: record(string(), string()) }),
  /** Staff settled what a result left open; `resultNo` counts the payment's recorded results from 1. */
  ExceptionResolved: object({
    at: utc,
    resultNo: min(integer(), 1),
    resolution: enums(resolutions),
    note: string(),
  }),
  ...deliveryEvents,
};

export type PaymentEvent = EventOf<typeof paymentEvents>;
export type PaymentRequested = Infer<typeof paymentEvents.PaymentRequested>;

export const paymentStreamPrefix = 'payment-';
export const paymentStream = (transactionId: string) => `${paymentStreamPrefix}${transactionId}`;

// ── State ────────────────────────────────────────────────────────────────────────────────────────────

export type Attempt = Omit<Infer<typeof paymentEvents.PaymentMethodChosen>, 'attempt'>;

/**
 * What one recorded result was, without its evidence: enough to recognise it and to tell the history.
 * Its `sellerOrderNo` is the one it was taken to speak of (see `sellerOrderOf`).
 */
export type RecordedResult = Omit<PaymentResult, 'raw'> & {
  at: string;
  source: Source;
  /** What it was recorded as: it set the payment's status, or it was set apart for staff. */
  role: 'applied' | 'contradiction' | 'amountMismatch' | 'duplicate';
  /** What staff did about it; null while nobody did. */
  resolved: { at: string; resolution: Resolution; note: string } | null;
};

export type PaymentStatus = 'requested' | Outcome;

export type RequestedPayment = {
  status: PaymentStatus;
  request: PaymentRequested;
  attempts: readonly Attempt[];
  /** Every result ever recorded, in order. */
  results: readonly RecordedResult[];
  /** Set once, by the success. */
  receipt: { receiptNo: string; late: boolean } | null;
  /** How many attempts had been made when the payment last failed or was cancelled. */
  closedAttempts: number;
  /** The registry's last answer, new or not; null before the first. */
  lastRequery: { at: string; status: RegistryStatus | Outcome } | null;
  /** All that the outcomes set in motion, in the order in which they did. */
  deliveries: readonly Delivery[];
};

/** JSON through and through: a state that was stored and read back folds on exactly as before. */
export type Payment = { status: 'none' } | RequestedPayment;

export const noPayment: Payment = { status: 'none' };

/** Folds one event into the state. Total: an event that makes no sense here leaves the state as it is. */
export function evolve(state: Payment, event: PaymentEvent): Payment {
  if (state.status === 'none') {
    if (event.type !== 'PaymentRequested') return state;
    return {
      status: 'requested',
      request: event.data,
      attempts: [],
      results: [],
      receipt: null,
      closedAttempts: 0,
      lastRequery: null,
      deliveries: [],
    };
  }
  switch (event.type) {
    case 'PaymentMethodChosen': {
      const { attempt: _, ...attempt } = event.data;
      return { ...state, attempts: [...state.attempts, attempt] };
    }
    case 'PaymentSucceeded': {
      if (state.status === 'succeeded') return state;
      const { receiptNo, late } = event.data;
      const paid = recorded(state, event, 'applied');
      return withDeliveries({ ...paid, status: 'succeeded', receipt: { receiptNo, late } }, event.data.at);
    }
    case 'PaymentFailed':
    case 'PaymentCancelled':
    case 'PaymentPending': {
      if (state.status === 'succeeded') return state;
      const { outcome } = event.data.result;
      const closedAttempts = outcome === 'pending' ? state.closedAttempts : state.attempts.length;
      const changed = recorded(state, event, 'applied');
      return withDeliveries({ ...changed, status: outcome, closedAttempts }, event.data.at);
    }
    case 'GatewayResultContradicted':
      return recorded(state, event, 'contradiction');
    case 'AmountMismatchDetected':
      return recorded(state, event, 'amountMismatch');
    case 'DuplicatePaymentDetected':
      return recorded(state, event, 'duplicate');
    case 'RequeryAnswered': {
      const { at, status } = event.data;
      return { ...state, lastRequery: { at, status } };
    }
    case 'ExceptionResolved': {
      const { resultNo, ...resolved } = event.data;
      const results = state.results.map((result, index) =>
        index + 1 === resultNo ? { ...result, resolved } : result,
      );
      return { ...state, results };
    }
    case 'PaymentRequested':
      return state;
    default:
      return isDeliveryEvent(event)
        ? { ...state, deliveries: evolveDeliveries(state.deliveries, event) }
        : state;
  }
}

/** Adds what the payment's new status calls for: content/docs/deliveries.md. */
function withDeliveries(payment: RequestedPayment, at: string): RequestedPayment {
  const { request, status, results } = payment;
  const change = results.filter(({ role }) => role === 'applied').length;
  const added: Delivery[] = [];
  if (request.callbackUrl !== '') added.push(newDelivery('callback', `callback-${change}`, change, at));
  if (status === 'succeeded' && request.channel === 'landreg') {
    const keys = request.items.map((_, index) => `item-${String(index + 1).padStart(2, '0')}`);
    added.push(...keys.map((key) => newDelivery('item', key, change, at)));
  }
  if (status === 'succeeded' && request.payer.email !== '')
    added.push(newDelivery('email', 'email', change, at));
  return { ...payment, deliveries: [...payment.deliveries, ...added] };
}

type ResultEvent = Extract<PaymentEvent, { data: { result: PaymentResult } }>;

function recorded(
  state: RequestedPayment,
  event: ResultEvent,
  role: RecordedResult['role'],
): RequestedPayment {
  const { raw: _, ...result } = event.data.result;
  const { at, source } = event.data;
  const sellerOrderNo = sellerOrderOf(state, result);
  const results = [...state.results, { ...result, sellerOrderNo, at, source, role, resolved: null }];
  const lastRequery = source === 'requery' ? { at, status: result.outcome } : state.lastRequery;
  return { ...state, results, lastRequery };
}

/** The result that gave the payment its present status, or null before the first. */
export function currentResult(payment: RequestedPayment): RecordedResult | null {
  return payment.results.findLast(({ role }) => role === 'applied') ?? null;
}

type ResultIds = Pick<PaymentResult, 'sellerOrderNo' | 'gatewayTransactionId' | 'mode'>;

/** What of a payment tells of which attempt a result speaks. */
type Tries<Try = Pick<Attempt, 'mode' | 'sellerOrderNo'>> = {
  attempts: readonly Try[];
  results: readonly Pick<RecordedResult, 'sellerOrderNo' | 'gatewayTransactionId'>[];
};

/**
 * The seller order a result speaks of: the one it names; else, as the registry's records name none, that of an
 * earlier result of the same gateway transaction; else the latest attempt's by the method it names; else the latest
 * attempt's; `''` before the first.
 */
export function sellerOrderOf(payment: Tries, result: ResultIds): string {
  if (result.sellerOrderNo !== '') return result.sellerOrderNo;
  const known = payment.results.find(
    ({ gatewayTransactionId: id }) => id !== '' && id === result.gatewayTransactionId,
  );
  const attempt = payment.attempts.findLast(({ mode }) => mode === result.mode) ?? payment.attempts.at(-1);
  return known?.sellerOrderNo ?? attempt?.sellerOrderNo ?? '';
}

/** The attempt a result speaks of; one that names an order we never made is taken for the latest. */
export function attemptOf<Try extends Pick<Attempt, 'mode' | 'sellerOrderNo'>>(
  payment: Tries<Try>,
  result: ResultIds,
): Try | null {
  const sellerOrderNo = sellerOrderOf(payment, result);
  return (
    payment.attempts.find((attempt) => attempt.sellerOrderNo === sellerOrderNo) ??
    payment.attempts.at(-1) ??
    null
  );
}
