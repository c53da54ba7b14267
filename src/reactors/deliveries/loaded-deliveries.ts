/** A payment's stream as a reactor loads it before an attempt, and what it says of the deliveries that its events called for. */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import type { OpenSealed } from '@ledger/personal-data/sealed.ts';
import { type Executed, endOf, type Head } from '../../commands/execute.ts';
import type { Delivery, PlannedDelivery } from '../../events/deliveries.ts';
import { type OpenPayment, openPayment } from '../../events/open-payment.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentStream,
  plannedDeliveries,
  type RequestedPayment,
  readPaymentEvent,
  withoutPersonalData,
} from '../../events/payment.ts';
import type { ClaimedDelivery } from '../../to-do/delivery-queue.ts';
import { attemptsOf } from '../../to-do/delivery-rows.ts';
import type { PlacedEvent } from '../../to-do/known-deliveries.ts';

/** The event that called for a delivery, what it says of it, and the payment as that event left it. */
type Call = { cause: RecordedEvent; planned: PlannedDelivery; payment: RequestedPayment };
/** A stream's end, and all its events; null when others appended since it was read. */
export type Stream = Head<RequestedPayment> & { events: readonly PlacedEvent[] | null };
/** `calls` has the call for each delivery, by its key. */
export type LoadedDeliveries = { head: Stream; calls: ReadonlyMap<string, Call> };
/** One of them; `head` is the end of the payment's stream. */
export type LoadedDelivery = Call & { delivery: Delivery; head: Stream };
export type OpenDelivery = Omit<LoadedDelivery, 'payment'> & { payment: OpenPayment };

/** Null when the log lacks the payment. Throws EventStoreUnavailable and UnreadableEvent. */
export async function loadDeliveries(
  { transactionId }: ClaimedDelivery,
  eventStore: Pick<EventStore, 'load'>,
): Promise<LoadedDeliveries | null> {
  const stored = await eventStore.load(paymentStream(transactionId));
  const calls = new Map<string, Call>();
  const events: PlacedEvent[] = [];
  let state: Payment = noPayment;
  for (const event of stored) {
    const read = readPaymentEvent(event);
    events.push({ revision: event.revision, event: read });
    state = evolve(state, read);
    if (state.status === 'none' || !('deliveries' in read.data)) continue;
    for (const planned of plannedDeliveries(state, read.data.deliveries ?? []))
      if (!calls.has(planned.key)) calls.set(planned.key, { cause: event, planned, payment: state });
  }
  if (state.status === 'none') return null;
  return { head: { state, ...endOf(stored), events }, calls };
}

/** The stream has attempts that the row lacks. */
export function isBehind({ orderingKey, attempts }: ClaimedDelivery, { head }: LoadedDeliveries): boolean {
  return attemptsOf(orderingKey, head.state.deliveries) !== attempts;
}

export function afterCommand(
  { events, revision }: Stream,
  { events: added, ...head }: Executed<Payment, PaymentEvent>,
): Stream {
  const placed = added.map((event, index) => ({ event, revision: Number(revision) + 1 + index }));
  const isWhole = head.revision === Number(revision) + added.length;
  // It was requested, and no event changes that.
  return { ...(head as Head<RequestedPayment>), events: events && isWhole ? [...events, ...placed] : null };
}

/** The delivery whose attempt was interrupted before this claim, if that is still to be recorded. */
export function findInterrupted(
  { interrupted }: ClaimedDelivery,
  { head, calls }: LoadedDeliveries,
): LoadedDelivery | null {
  const delivery = head.state.deliveries.find(({ key }) => key === interrupted);
  const call = delivery && calls.get(delivery.key);
  return call && delivery.state === 'due' ? { ...call, delivery, head } : null;
}

/** The delivery with the personal data that it needs; null while those cannot be read, or it would lack them. */
export async function openDelivery(
  { payment: calledPayment, ...due }: LoadedDelivery,
  openSealed: OpenSealed,
): Promise<OpenDelivery | null> {
  const { state } = due.head;
  // A callback reports the change that called for it; an email says how the payment stands when it is sent.
  const payment = due.planned.kind === 'email' ? state : calledPayment;
  const { erasedAt } = state.personalData;
  // What was erased since the call must not be sent, even if it is there in plain text.
  const isErased = erasedAt !== null && erasedAt !== payment.personalData.erasedAt;
  const left = isErased ? withoutPersonalData(payment, erasedAt) : payment;
  const opened = await openPayment(left, openSealed);
  const { access } = opened;
  return access.kind === 'unavailable' && !access.isLost ? null : { ...due, payment: opened };
}
