/**
 * What can happen to a payment, and the fold that turns its events into its state, in this order: events, state,
 * `evolve`. Commands are decided in src/commands/payment.ts, results (also late and second ones) in
 * src/commands/payment-result.ts.
 */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import {
  type Held,
  type HeldKeys,
  holding,
  holdsNothing,
  personalDataErased,
  sealed,
} from '@ledger/personal-data/sealed.ts';
import { boolean, enums, type Infer, integer, literal, min, object, optional, string } from 'superstruct';
import { type Language, languages } from '../common/languages.ts';
import { sen } from '../common/money.ts';
import { paymentModes } from '../common/payment-modes.ts';
import {
  type Adjusted,
  adjustmentEvents,
  changesOf,
  evolveAdjustments,
  resolvedAs,
  statusAfter,
} from './adjustments.ts';
import { type Approval, approvalEvents, evolveApprovals } from './approvals.ts';
import { type Fold, isEventOf, readerOf } from './codec.ts';
import {
  type Delivery,
  deliveryEvents,
  evolveDeliveries,
  newDelivery,
  type PlannedDelivery,
} from './deliveries.ts';
import { paymentRequested } from './payment-request.ts';
import { announced, outcomes, reporting, resultRecorded, sources, statusChanged } from './payment-result.ts';
import { type RequestDetails, StaffNote } from './personal-data.ts';
import {
  exceptionResolutions,
  type LastRequery,
  type RecordedResult,
  resultRoles,
  withIdentified,
  withRecorded,
} from './recorded-result.ts';
import { requeryEvents } from './requery.ts';
import { deliveriesByRule1 } from './upcast-rules.ts';

/** By which rule of src/events/postings.ts the event moves money. */
const postingRule = enums([1, 2, 3]);

export const paymentEvents = {
  PaymentRequested: paymentRequested,
  PaymentMethodChosen: object({
    at: utc,
    attempt: min(integer(), 1),
    mode: enums(paymentModes),
    bankCode: string(),
    chargeSen: sen,
    sellerOrderNo: string(),
    /** The language of the page on which the payer chose; absent from older events. */
    lang: optional(enums(languages)),
  }),
  PaymentSucceeded: reporting(
    ['succeeded'],
    object({
      ...statusChanged,
      postingRule,
      receiptNo: string(),
      /** It arrived after a failure or cancellation, and no newer attempt had been made. */
      late: boolean(),
    }),
  ),
  PaymentFailed: reporting(['failed'], object(statusChanged)),
  PaymentCancelled: reporting(['cancelled'], object(statusChanged)),
  PaymentPending: reporting(['pending'], object(statusChanged)),
  /**
   * A result that contradicts the payment's status, or a success that contradicts the amount of a gateway transaction
   * in the books. It changes nothing and goes to staff.
   */
  GatewayResultContradicted: reporting(outcomes, object({ ...resultRecorded, standing: enums(outcomes) })),
  /** A success of another amount or currency: not paid; the payer must not pay again until staff settle it. */
  AmountMismatchDetected: reporting(
    ['succeeded'],
    object({ ...resultRecorded, ...announced, postingRule, expectedSen: sen, currency: literal('MYR') }),
  ),
  /** A second success with another gateway transaction id: money that staff have to refund. */
  DuplicatePaymentDetected: reporting(
    ['succeeded'],
    object({ ...resultRecorded, postingRule, firstGatewayTransactionId: string() }),
  ),
  /**
   * Another report of a recorded result named what the first one lacked: the gateway transaction, the order, or both;
   * `''` where it names nothing new.
   */
  GatewayResultIdentified: object({
    at: utc,
    source: enums(sources),
    resultNo: min(integer(), 1),
    gatewayTransactionId: string(),
    sellerOrderNo: string(),
  }),
  /** A failure or cancellation of one attempt, which leaves the payment's status to the others. */
  AttemptEnded: reporting(['failed', 'cancelled'], object(resultRecorded)),
  /** Settles what a result left open; `resultNo` counts the payment's recorded results from 1. */
  ExceptionResolved: object({
    at: utc,
    resultNo: min(integer(), 1),
    resolution: enums(exceptionResolutions),
    note: string(),
    postingRule,
    ...announced,
  }),
  /** For colleagues; it changes nothing. Sealed, because people write about people. */
  StaffNoteAdded: object({ at: utc, personal: sealed(StaffNote) }),
  PersonalDataErased: personalDataErased,
  ...adjustmentEvents,
  ...approvalEvents,
  ...requeryEvents,
  ...deliveryEvents,
};

export type PaymentEvent = EventOf<typeof paymentEvents>;
export const readPaymentEvent = readerOf(paymentEvents);
export type PaymentRequested = Infer<typeof paymentEvents.PaymentRequested>;
export type Channel = PaymentRequested['channel'];

export const paymentStreamPrefix = 'payment-';
export const paymentStream = (transactionId: string) => `${paymentStreamPrefix}${transactionId}`;
export const paymentIdOf = (streamName: string) => streamName.slice(paymentStreamPrefix.length);

export type Attempt = Omit<Infer<typeof paymentEvents.PaymentMethodChosen>, 'attempt'>;

export type PaymentStatus = Adjusted['status'];

export type RequestedPayment = Adjusted & {
  request: Omit<PaymentRequested, 'personal'> & { personal: Held<RequestDetails> };
  attempts: readonly Attempt[];
  /** How many attempts had been made when the payment last failed or was cancelled. */
  closedAttempts: number;
  lastRequery: LastRequery | null;
  /** The seller orders whose outcomes are not known, in order; absent while there is none. */
  unknownOutcomes?: readonly { at: string; orderNo: string }[];
  /** In order; absent while there is none. */
  approvals?: readonly Approval[];
  /** In the order in which outcomes called for them. */
  deliveries: readonly Delivery[];
  personalData: HeldKeys;
};

/** Plain JSON: a state that was stored and read back folds on exactly as before. */
export type Payment = { status: 'none' } | RequestedPayment;

export const noPayment: Payment = { status: 'none' };

/** Null before the request, and where no event could be read. */
export const requestedIn = (state: Payment | undefined) => (state && state.status !== 'none' ? state : null);

/** Folds one event into the state. Total: an event that makes no sense in this state changes nothing. */
export function evolve(state: Payment, event: PaymentEvent): Payment {
  const next = fold(state, event);
  if (next.status === 'none') return next;
  // An event that changes nothing else may still hold sealed data.
  const personalData = holding(next.personalData, event.data);
  return personalData === next.personalData ? next : { ...next, personalData };
}

export const paymentFold: Fold<Payment, PaymentEvent> = {
  prefix: paymentStreamPrefix,
  initial: noPayment,
  read: readPaymentEvent,
  evolve,
};

function fold(state: Payment, event: PaymentEvent): Payment {
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
      personalData: holdsNothing,
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
      const paid = withRecorded(state, event.data, 'applied');
      return withDeliveries({ ...paid, status: 'succeeded', receipt: { receiptNo, late } }, event.data);
    }
    case 'PaymentFailed':
    case 'PaymentCancelled':
    case 'PaymentPending': {
      if (state.status === 'succeeded') return state;
      const { outcome } = event.data.result;
      const closedAttempts = outcome === 'pending' ? state.closedAttempts : state.attempts.length;
      const changed = withRecorded(state, event.data, 'applied');
      return withDeliveries({ ...changed, status: statusAfter(state, outcome), closedAttempts }, event.data);
    }
    case 'GatewayResultContradicted':
    case 'DuplicatePaymentDetected':
    case 'AttemptEnded':
      return withRecorded(state, event.data, resultRoles[event.type]);
    case 'AmountMismatchDetected':
      return withAnnouncement(withRecorded(state, event.data, 'amountMismatch'), event.data);
    case 'GatewayResultIdentified':
      return { ...state, results: withIdentified(state.results, event.data) };
    case 'RequeryAnswered':
    case 'RequeryRepeated':
      return { ...state, lastRequery: { at: event.data.at, status: event.data.status } };
    case 'RequeryUnanswered':
      return { ...state, lastRequery: { at: event.data.at, status: event.data.reason } };
    case 'AttemptOutcomeUnknown':
      return { ...state, unknownOutcomes: [...(state.unknownOutcomes ?? []), event.data] };
    case 'ExceptionResolved': {
      const { at, note, resolution, resultNo } = event.data;
      return withAnnouncement(resolvedAs(state, resultNo, { at, resolution, note }), event.data);
    }
    case 'PersonalDataErased':
      return withoutPersonalData(state, event.data.at);
    case 'PaymentRequested':
    case 'StaffNoteAdded':
      return state;
    default:
      if (isEventOf(adjustmentEvents, event))
        return withDeliveries(evolveAdjustments(state, event), event.data);
      if (isEventOf(approvalEvents, event))
        return { ...state, approvals: evolveApprovals(state.approvals, event) };
      if (isEventOf(deliveryEvents, event))
        return { ...state, deliveries: evolveDeliveries(state.deliveries, event) };
      event satisfies never;
      return state;
  }
}

/** Adds what an event sets in motion although the status stays. */
function withAnnouncement(
  payment: RequestedPayment,
  { at, deliveries }: { at: string; deliveries?: readonly PlannedDelivery[] | undefined },
): RequestedPayment {
  if (!deliveries) return payment;
  const announcements = (payment.announcements ?? 0) + 1;
  return withDeliveries({ ...payment, announcements }, { at, deliveries });
}

function withDeliveries(
  payment: RequestedPayment,
  { at, deliveries }: { at: string; deliveries: readonly PlannedDelivery[] | 'rule 1' },
): RequestedPayment {
  const planned = plannedDeliveries(payment, deliveries);
  const added = planned.map((each) => newDelivery(each, changesOf(payment), at));
  return { ...payment, deliveries: [...payment.deliveries, ...added] };
}

/** What a result has set in motion, as its event says; `payment` is the state after the result. */
export function plannedDeliveries(
  payment: RequestedPayment,
  deliveries: readonly PlannedDelivery[] | 'rule 1',
): readonly PlannedDelivery[] {
  return deliveries === 'rule 1' ? deliveriesByRule1(payment, changesOf(payment)) : deliveries;
}

/** The language in which the payer last chose a method; undefined where no event says it. */
export function chosenLanguage({ attempts }: Pick<RequestedPayment, 'attempts'>): Language | undefined {
  return attempts.findLast(({ lang }) => lang)?.lang;
}

/** The payment without personal data, as they are erased at a time: nothing else changes. */
export function withoutPersonalData(payment: RequestedPayment, at: string | null): RequestedPayment {
  const personal = { erased: true } as const;
  return {
    ...payment,
    request: { ...payment.request, personal },
    results: payment.results.map((result) => ({ ...result, personal })),
    personalData: { ...holdsNothing, erasedAt: at },
  };
}

/** The result that gave the payment its present status, or null before the first. */
export function currentResult<Result extends RecordedResult>(payment: {
  results: readonly Result[];
}): Result | null {
  const { results } = payment;
  const paying = results.find(({ credited }) => credited === 'paid');
  return paying ?? results.findLast(({ role }) => role === 'applied') ?? null;
}
