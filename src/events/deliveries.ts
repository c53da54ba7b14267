/**
 * The deliveries that a payment's outcome causes, callbacks and the receipt email, and their outcomes. They are
 * part of the payment's own stream and fold, so that its history is complete in one place.
 */
import { byKind } from '@ledger/kernel/matches-schema.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { enums, type Infer, integer, literal, min, nullable, object, optional, string } from 'superstruct';

/** What a callback reports beside the status; absent where it is the status alone. */
const callbackSubjects = ['partlyPaid', 'reversed', 'refunded'] as const;
export type CallbackSubject = (typeof callbackSubjects)[number];

const plannedByKind = {
  callback: object({
    key: string(),
    kind: literal('callback'),
    url: string(),
    about: optional(enums(callbackSubjects)),
  }),
  /** `item` is the number of the payment's item, counted from 1. */
  item: object({ key: string(), kind: literal('item'), item: min(integer(), 1) }),
  email: object({ key: string(), kind: literal('email') }),
};

/** A delivery that a result sets in motion. No personal data, unless the merchant put some into its callback URL. */
export const PlannedDelivery = byKind(plannedByKind);
export type PlannedDelivery = Infer<typeof PlannedDelivery>;

const attempted = {
  at: utc,
  /** The key of the delivery within its payment. */
  delivery: string(),
  /** 1 for the first; not reset when staff ask for it again. */
  attempt: min(integer(), 1),
  durationMs: min(integer(), 0),
};

/** HTTP status of the answer; null when there was none. */
const answer = nullable(integer());
/** A few words, without secrets or personal data. */
const reason = string();

export const deliveryEvents = {
  CallbackDelivered: object({ ...attempted, status: answer }),
  CallbackAttemptFailed: object({ ...attempted, status: answer, reason, nextAttemptAt: utc }),
  /** The schedule is exhausted or the receiver is gone permanently: nothing more is sent unless staff ask. */
  CallbackAbandoned: object({ ...attempted, status: answer, reason }),
  /** A newer status superseded it before it was delivered. */
  CallbackSuperseded: object({ at: utc, delivery: string() }),
  /** Staff ask to send it again. */
  CallbackRequested: object({ at: utc, delivery: string() }),
  ReceiptEmailSent: object({ ...attempted, messageId: string() }),
  ReceiptEmailAttemptFailed: object({ ...attempted, reason, nextAttemptAt: utc }),
  ReceiptEmailAbandoned: object({ ...attempted, reason }),
  ReceiptEmailRequested: object({ at: utc, delivery: string() }),
};

export type DeliveryEvent = EventOf<typeof deliveryEvents>;

/**
 * `callback`: to the merchant, one per status change and per adjustment that it is told of. `item`: to the land registry,
 * one per item. `email`: the receipt.
 */
export type DeliveryKind = PlannedDelivery['kind'];
export const deliveryKinds = Object.keys(plannedByKind) as DeliveryKind[];

export type Delivery = {
  /** `callback-<change>`, `item-<nn>` or `email`: unique within the payment, the same on every replay. */
  key: string;
  kind: DeliveryKind;
  /** The status change that it reports: 1 for the first result that was applied. */
  change: number;
  state: 'due' | 'delivered' | 'superseded' | 'abandoned';
  attempts: number;
  /** Attempts since it became due or staff requested it again: its place in the retry schedule. */
  triesOfSchedule: number;
  dueAt: string;
  /** When the outcome that it reports was recorded. */
  calledAt: string;
  /** When it was delivered, given up or superseded; null while it is due. */
  settledAt: string | null;
};

export function newDelivery({ kind, key }: PlannedDelivery, change: number, at: string): Delivery {
  const untried = { state: 'due', attempts: 0, triesOfSchedule: 0 } as const;
  return { key, kind, change, ...untried, dueAt: at, calledAt: at, settledAt: null };
}

/** Folds one event into a payment's deliveries. Total: an event about an unknown delivery changes nothing. */
export function evolveDeliveries<One extends Delivery>(
  deliveries: readonly One[],
  event: DeliveryEvent,
): readonly One[] {
  return deliveries.map((delivery) =>
    delivery.key === event.data.delivery ? { ...delivery, ...after(delivery, event) } : delivery,
  );
}

function after(delivery: Delivery, event: DeliveryEvent): Partial<Delivery> {
  const oneMore = { attempts: delivery.attempts + 1, triesOfSchedule: delivery.triesOfSchedule + 1 };
  switch (event.type) {
    case 'CallbackDelivered':
    case 'ReceiptEmailSent':
      return { ...oneMore, state: 'delivered', settledAt: event.data.at };
    case 'CallbackAttemptFailed':
    case 'ReceiptEmailAttemptFailed':
      return { ...oneMore, dueAt: event.data.nextAttemptAt };
    case 'CallbackAbandoned':
    case 'ReceiptEmailAbandoned':
      return { ...oneMore, state: 'abandoned', settledAt: event.data.at };
    case 'CallbackSuperseded':
      return { state: 'superseded', settledAt: event.data.at };
    case 'CallbackRequested':
    case 'ReceiptEmailRequested':
      return { state: 'due', triesOfSchedule: 0, dueAt: event.data.at, settledAt: null };
  }
}
