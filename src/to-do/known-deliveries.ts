/**
 * What the list of deliveries keeps of a payment: a fold of only those events that call for deliveries or are about them.
 * It agrees with the payment's own fold, in src/events/payment.ts, about every delivery.
 */
import { adjustmentEvents } from '../events/adjustments.ts';
import { isEventOf } from '../events/codec.ts';
import {
  type Delivery,
  deliveryEvents,
  evolveDeliveries,
  newDelivery,
  type PlannedDelivery,
} from '../events/deliveries.ts';
import type { PaymentEvent } from '../events/payment.ts';
import { deliveriesByRule1 } from '../events/upcast-rules.ts';

const statusEvents = ['PaymentSucceeded', 'PaymentFailed', 'PaymentCancelled', 'PaymentPending'] as const;
/** They tell people something although the status stays. */
const announcingEvents = ['AmountMismatchDetected', 'ExceptionResolved'] as const;

/** The types of the events that are folded. */
export const followedEvents: readonly string[] = [
  ...statusEvents,
  ...announcingEvents,
  ...Object.keys(adjustmentEvents),
  ...Object.keys(deliveryEvents),
];

/** A delivery, and whom it goes to. */
type AddressedDelivery = Delivery & { receiver: string };

/** Plain JSON, no personal data. The order of the fields is that of the rows, where a query reads the revision as a text. */
export type KnownDeliveries = {
  transactionId: string;
  /** The revision of the last event that was folded. */
  revision: number;
  merchantCode: string;
  /** Nothing changes the status after a success. */
  isPaid: boolean;
  /** How many results have set the status, and how often staff have adjusted it. */
  changes: number;
  /** All so far. */
  deliveries: readonly AddressedDelivery[];
  /** What events of version 1 need, because they do not say what they set in motion. */
  request?: Parameters<typeof deliveriesByRule1>[0]['request'] & { merchantCode: string };
};

export function nothingKnown(transactionId: string): KnownDeliveries {
  return { transactionId, revision: -1, merchantCode: '', isPaid: false, changes: 0, deliveries: [] };
}

/** An event of a payment's stream, and where it is in it. */
export type PlacedEvent = { revision: number; event: PaymentEvent };

/** Folds the next event that is followed. */
export function takeEvent(known: KnownDeliveries, { event, revision }: PlacedEvent): KnownDeliveries {
  const next = isEventOf(deliveryEvents, event)
    ? { ...known, deliveries: evolveDeliveries(known.deliveries, event) }
    : withCalled(known, event);
  return { ...next, revision };
}

/** What is known of a payment after these events, which are its whole stream. */
export function foldStream(transactionId: string, events: readonly PlacedEvent[]): KnownDeliveries {
  const followed = events.filter(({ event }) => followedEvents.includes(event.type));
  const request =
    followed.some(({ event }) => needsRequest(event)) && events[0] && requestIn(events[0].event);
  return followed.reduce(takeEvent, { ...nothingKnown(transactionId), ...request });
}

/** With the deliveries that an event calls for. */
function withCalled(known: KnownDeliveries, event: PaymentEvent): KnownDeliveries {
  if (!('deliveries' in event.data)) return known;
  const { at, deliveries, merchantCode } = event.data;
  const setsStatus = statusEvents.some((type) => type === event.type);
  // A success is final, as in `evolve`.
  if (!deliveries || (known.isPaid && setsStatus)) return known;
  const isByRule1 = deliveries === 'rule 1';
  const pays = event.type === 'PaymentSucceeded' || ('effect' in event.data && event.data.effect === 'paid');
  const isPaid = known.isPaid || pays;
  const changes = known.changes + 1;
  const planned = isByRule1 ? plannedByRule1(known, isPaid, changes) : deliveries;
  const added = planned.map((each) => ({ ...newDelivery(each, changes, at), receiver: receiverOf(each) }));
  return {
    ...known,
    merchantCode: (isByRule1 ? known.request?.merchantCode : merchantCode) ?? '',
    isPaid,
    changes,
    deliveries: [...known.deliveries, ...added],
  };
}

/** Deliveries are limited by receiver, so that one that hangs or is down does not delay the others. */
function receiverOf(planned: PlannedDelivery): string {
  if (planned.kind === 'callback') return (URL.parse(planned.url)?.origin ?? 'unreadable').slice(0, 300);
  return { item: 'land registry', email: 'mail server' }[planned.kind];
}

function plannedByRule1(
  { request }: KnownDeliveries,
  isPaid: boolean,
  change: number,
): readonly PlannedDelivery[] {
  return request ? deliveriesByRule1({ request, status: isPaid ? 'succeeded' : 'other' }, change) : [];
}

/** Whether the event is of version 1, so that it can be folded only with the payment's request. */
export function needsRequest({ data }: PaymentEvent): boolean {
  return 'deliveries' in data && data.deliveries === 'rule 1';
}

/** The request in the first event of a stream; nothing if the stream begins with something else. */
export function requestIn({ type, data }: PaymentEvent): Pick<KnownDeliveries, 'request'> {
  if (type !== 'PaymentRequested') return {};
  const { callbackUrl, channel, emailReceipt, items, merchant } = data;
  const { code: merchantCode } = merchant;
  return { request: { callbackUrl, channel, emailReceipt, items: items.map(() => null), merchantCode } };
}
