/**
 * What a payment's outcome sets in motion, and what became of it: callbacks and the receipt email. Part of the payment's
 * own stream and fold, so that its history is complete in one place.
 */
import { integer, min, nullable, object, string } from 'superstruct';
import { type EventOf, utc } from '../kernel/structs.ts';

const tried = {
  at: utc,
  /** The key of the delivery within its payment. */
  delivery: string(),
  /** 1 for the first try ever, counted on when staff ask for it again. */
  attempt: min(integer(), 1),
  durationMs: min(integer(), 0),
};

/** HTTP status of the answer; null when there was none. */
const answer = nullable(integer());
/** In a few words, without secrets or personal data. */
const reason = string();

export const deliveryEvents = {
  CallbackDelivered: object({ ...tried, status: answer }),
  CallbackAttemptFailed: object({ ...tried, status: answer, reason, nextAttemptAt: utc }),
  /** The schedule is exhausted or the receiver is gone for good: nothing more happens unless staff ask. */
  CallbackAbandoned: object({ ...tried, status: answer, reason }),
  /** A newer status overtook it before it was delivered. */
  CallbackSuperseded: object({ at: utc, delivery: string() }),
  /** Staff ask to send it again. */
  CallbackRequested: object({ at: utc, delivery: string() }),
  ReceiptEmailSent: object({ ...tried, messageId: string() }),
  ReceiptEmailAttemptFailed: object({ ...tried, reason, nextAttemptAt: utc }),
  ReceiptEmailAbandoned: object({ ...tried, reason }),
  ReceiptEmailRequested: object({ at: utc, delivery: string() }),
};

export type DeliveryEvent = EventOf<typeof deliveryEvents>;

export function isDeliveryEvent(event: { type: string }): event is DeliveryEvent {
  return Object.hasOwn(deliveryEvents, event.type);
}

/** `callback`: to the merchant, one per status change. `item`: to the land registry, one per item. `email`: the receipt. */
export type DeliveryKind = 'callback' | 'item' | 'email';

export type Delivery = {
  /** `callback-<change>`, `item-<nn>` or `email`: unique within the payment, the same on every replay. */
  key: string;
  kind: DeliveryKind;
  /** Which status change it tells: 1 for the first result that was applied. */
  change: number;
  state: 'due' | 'delivered' | 'superseded' | 'abandoned';
  /** Tries made so far. */
  attempts: number;
  /** Tries since it became due or was asked for again: the place in the retry schedule. */
  triesOfSchedule: number;
  /** The next try, while it is due. */
  dueAt: string;
  /** When the outcome that it tells of was recorded. */
  calledAt: string;
  /** When it was delivered, given up or overtaken; null while it is due. */
  settledAt: string | null;
};

/** A delivery as the outcome that calls for it makes it. */
export function newDelivery(kind: DeliveryKind, key: string, change: number, at: string): Delivery {
  return {
    key,
    kind,
    change,
    state: 'due',
    attempts: 0,
    triesOfSchedule: 0,
    dueAt: at,
    calledAt: at,
    settledAt: null,
  };
}

/** Folds one event into a payment's deliveries. Total: an event about a delivery that is not there changes nothing. */
export function evolveDeliveries(deliveries: readonly Delivery[], event: DeliveryEvent): readonly Delivery[] {
  return deliveries.map((delivery) =>
    delivery.key === event.data.delivery ? after(delivery, event) : delivery,
  );
}

function after(delivery: Delivery, event: DeliveryEvent): Delivery {
  const oneMore = { attempts: delivery.attempts + 1, triesOfSchedule: delivery.triesOfSchedule + 1 };
  switch (event.type) {
    case 'CallbackDelivered':
    case 'ReceiptEmailSent':
      return { ...delivery, ...oneMore, state: 'delivered', settledAt: event.data.at };
    case 'CallbackAttemptFailed':
    case 'ReceiptEmailAttemptFailed':
      return { ...delivery, ...oneMore, dueAt: event.data.nextAttemptAt };
    case 'CallbackAbandoned':
    case 'ReceiptEmailAbandoned':
      return { ...delivery, ...oneMore, state: 'abandoned', settledAt: event.data.at };
    case 'CallbackSuperseded':
      return { ...delivery, state: 'superseded', settledAt: event.data.at };
    case 'CallbackRequested':
    case 'ReceiptEmailRequested':
      return { ...delivery, state: 'due', triesOfSchedule: 0, dueAt: event.data.at, settledAt: null };
    default:
      return event satisfies never;
  }
}
