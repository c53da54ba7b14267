/** Decisions about a payment's deliveries. The events are in src/events/deliveries.ts. */
import type { Delivery, DeliveryEvent } from '../events/deliveries.ts';
import type { RequestedPayment } from '../events/payment.ts';
import { type Decision, Refused } from './decider.ts';

/** The status of the HTTP answer; null if there was none, and for email. */
export type RecordDeliveryAttempt = {
  type: 'RecordDeliveryAttempt';
  at: string;
  delivery: string;
  /** Counted when the attempt began: if another reactor has recorded it meanwhile, it is not recorded again. */
  attempt: number;
  durationMs: number;
  outcome:
    | { kind: 'delivered'; status: number | null; messageId: string }
    | { kind: 'failed'; status: number | null; reason: string; nextAttemptAt: string }
    /** Given up: the schedule is exhausted, or the receiver is gone for good. */
    | { kind: 'abandoned'; status: number | null; reason: string };
};

export type DeliveryCommand =
  | RecordDeliveryAttempt
  | { type: 'SupersedeDelivery'; at: string; delivery: string }
  /** Somebody asks to send it again: the schedule restarts, the id stays. Refused after `maxAttempts`, if that is given. */
  | { type: 'RequestDelivery'; at: string; delivery: string; maxAttempts?: number }
  /** The payer asks for the receipt again. `attempts` is how many attempts to send it the page knew of. */
  | { type: 'RequestReceiptEmail'; at: string; attempts: number };

const receiptKey = 'email';

export function receiptEmailOf({ deliveries }: RequestedPayment): Delivery | undefined {
  return deliveries.find(({ key }) => key === receiptKey);
}

const emailPauseMs = 10 * 60_000;
const maxEmailAttempts = 15;

/** Whether the payer can have the receipt sent again: ten minutes after the last time, and 15 attempts in all. */
export function canRequestEmail({ attempts, settledAt, state }: Delivery, at: string): boolean {
  if (settledAt === null || state === 'due' || attempts >= maxEmailAttempts) return false;
  return Date.parse(at) - Date.parse(settledAt) >= emailPauseMs;
}

/** Whether it cannot be sent without what was erased: an email address, an account number. A callback lacks only names. */
export function lacksErased({ kind }: Delivery, { personalData }: RequestedPayment): boolean {
  return kind !== 'callback' && personalData.erasedAt !== null;
}

export function decideDelivery(command: DeliveryCommand, state: RequestedPayment): Decision<DeliveryEvent> {
  const wanted = command.type === 'RequestReceiptEmail' ? receiptKey : command.delivery;
  const delivery = state.deliveries.find(({ key }) => key === wanted);
  if (!delivery) return new Refused('unknown_delivery', 'This payment has no such delivery');
  switch (command.type) {
    case 'RecordDeliveryAttempt':
      return isNews(command, delivery) ? [attemptEvent(command, delivery)] : [];
    case 'SupersedeDelivery':
      return delivery.state === 'due' && isOvertaken(delivery, state.deliveries)
        ? [{ type: 'CallbackSuperseded', data: { at: command.at, delivery: delivery.key } }]
        : [];
    case 'RequestDelivery':
      if (isOvertaken(delivery, state.deliveries))
        return new Refused('delivery_superseded', 'A newer status has superseded this callback');
      if (lacksErased(delivery, state))
        return new Refused('delivery_erased', 'The personal data that this delivery needs are erased');
      if (isSoon(delivery, command.at)) return [];
      return delivery.attempts >= (command.maxAttempts ?? Number.POSITIVE_INFINITY)
        ? new Refused('too_many_deliveries', 'This delivery has been attempted too often; ask the operator')
        : [requestEvent(command, delivery)];
    case 'RequestReceiptEmail':
      return command.attempts === delivery.attempts &&
        canRequestEmail(delivery, command.at) &&
        !lacksErased(delivery, state)
        ? [requestEvent(command, delivery)]
        : [];
  }
}

/** Whether it is on its way, or is attempted within a minute; after a failure, or a wrong clock, it may wait for a day. */
export const isSoon = ({ dueAt, state }: Pick<Delivery, 'dueAt' | 'state'>, at: string) =>
  state === 'due' && Date.parse(dueAt) - Date.parse(at) < 60_000;

/**
 * A failure that another reactor has already recorded is not recorded again. A success is recorded even after another
 * reactor gave up, unless somebody has asked for the delivery again since that attempt began: they asked for another one.
 */
function isNews({ attempt, outcome }: RecordDeliveryAttempt, delivery: Delivery): boolean {
  const { state, attempts, triesOfSchedule } = delivery;
  if (outcome.kind !== 'delivered') return state === 'due' && attempt > attempts;
  const isOpen = state === 'due' || state === 'abandoned';
  return isOpen && attempt > attempts - triesOfSchedule;
}

/** Callbacks of one payment are sent in order: one with an older status than another is no longer sent. */
export function isOvertaken(delivery: Delivery, all: readonly Delivery[]): boolean {
  return (
    delivery.kind === 'callback' &&
    all.some(({ kind, change }) => kind === 'callback' && change > delivery.change)
  );
}

function attemptEvent(
  { at, durationMs, outcome }: RecordDeliveryAttempt,
  { kind, key, attempts }: Delivery,
): DeliveryEvent {
  const data = { at, delivery: key, attempt: attempts + 1, durationMs };
  const { status } = outcome;
  const isEmail = kind === 'email';
  if (outcome.kind === 'delivered')
    return isEmail
      ? { type: 'ReceiptEmailSent', data: { ...data, messageId: outcome.messageId } }
      : { type: 'CallbackDelivered', data: { ...data, status } };
  const { reason } = outcome;
  if (outcome.kind === 'abandoned')
    return isEmail
      ? { type: 'ReceiptEmailAbandoned', data: { ...data, reason } }
      : { type: 'CallbackAbandoned', data: { ...data, status, reason } };
  const { nextAttemptAt } = outcome;
  return isEmail
    ? { type: 'ReceiptEmailAttemptFailed', data: { ...data, reason, nextAttemptAt } }
    : { type: 'CallbackAttemptFailed', data: { ...data, status, reason, nextAttemptAt } };
}

function requestEvent({ at }: { at: string }, { kind, key }: Delivery): DeliveryEvent {
  return {
    type: kind === 'email' ? 'ReceiptEmailRequested' : 'CallbackRequested',
    data: { at, delivery: key },
  };
}
