/** What may become of a payment's deliveries. The events are in src/events/deliveries.ts. */
import type { Delivery, DeliveryEvent } from '../events/deliveries.ts';
import type { Payment } from '../events/payment.ts';
import { Refused } from './decider.ts';

/** A reactor tried; `status` is the HTTP answer's, null where there was none and for email. */
export type RecordDeliveryAttempt = {
  type: 'RecordDeliveryAttempt';
  at: string;
  delivery: string;
  /** As the reactor counted when it began: a try that another reactor recorded meanwhile is not recorded again. */
  attempt: number;
  durationMs: number;
  outcome:
    | { kind: 'delivered'; status: number | null; messageId: string }
    | { kind: 'failed'; status: number | null; reason: string; nextAttemptAt: string }
    /** Failed for good: the schedule is exhausted, or the receiver said never to come back. */
    | { kind: 'abandoned'; status: number | null; reason: string };
};

/** A reactor found that a newer status has overtaken a callback. */
export type SupersedeDelivery = { type: 'SupersedeDelivery'; at: string; delivery: string };

/** Staff ask to send it again; the schedule starts anew, the id stays. */
export type RequestDelivery = { type: 'RequestDelivery'; at: string; delivery: string };

export type DeliveryCommand = RecordDeliveryAttempt | SupersedeDelivery | RequestDelivery;

export function decideDelivery(command: DeliveryCommand, state: Payment): readonly DeliveryEvent[] | Refused {
  if (state.status === 'none') return new Refused('unknown_payment', 'Payment not found');
  const delivery = state.deliveries.find(({ key }) => key === command.delivery);
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
        return new Refused('delivery_superseded', 'A newer status has overtaken this callback');
      return delivery.state === 'due' ? [] : [requestEvent(command, delivery)];
    default:
      return command satisfies never;
  }
}

/**
 * A failure that another reactor recorded too is the same failure; a delivery is a fact, whoever else tried, and even
 * where another gave it up.
 */
function isNews({ attempt, outcome }: RecordDeliveryAttempt, { state, attempts }: Delivery): boolean {
  if (outcome.kind === 'delivered') return state === 'due' || state === 'abandoned';
  return state === 'due' && attempt > attempts;
}

/** Callbacks of one payment go out in order, so one that tells an older status than another is not sent any more. */
export function isOvertaken(delivery: Delivery, all: readonly Delivery[]): boolean {
  return (
    delivery.kind === 'callback' &&
    all.some(({ kind, change }) => kind === 'callback' && change > delivery.change)
  );
}

function attemptEvent(command: RecordDeliveryAttempt, { kind, key, attempts }: Delivery): DeliveryEvent {
  const { at, durationMs, outcome } = command;
  const tried = { at, delivery: key, attempt: attempts + 1, durationMs };
  if (kind === 'email') {
    if (outcome.kind === 'delivered')
      return { type: 'ReceiptEmailSent', data: { ...tried, messageId: outcome.messageId } };
    const { reason } = outcome;
    return outcome.kind === 'failed'
      ? {
          type: 'ReceiptEmailAttemptFailed',
          data: { ...tried, reason, nextAttemptAt: outcome.nextAttemptAt },
        }
      : { type: 'ReceiptEmailAbandoned', data: { ...tried, reason } };
  }
  const { status } = outcome;
  if (outcome.kind === 'delivered') return { type: 'CallbackDelivered', data: { ...tried, status } };
  const { reason } = outcome;
  return outcome.kind === 'failed'
    ? {
        type: 'CallbackAttemptFailed',
        data: { ...tried, status, reason, nextAttemptAt: outcome.nextAttemptAt },
      }
    : { type: 'CallbackAbandoned', data: { ...tried, status, reason } };
}

function requestEvent({ at }: RequestDelivery, { kind, key }: Delivery): DeliveryEvent {
  return {
    type: kind === 'email' ? 'ReceiptEmailRequested' : 'CallbackRequested',
    data: { at, delivery: key },
  };
}
