/**
 * The reactors' own to-do list, made from the log: results that set the status put deliveries on it, and the events about
 * deliveries settle them. The reactors role runs it, so that nothing waits for the read models. It is not rebuilt,
 * because its rows also hold the leases of attempts that are under way.
 */
import { adjustmentEvents, changesOf } from '../events/adjustments.ts';
import { readPaymentEvent } from '../events/codec.ts';
import {
  type DeliveryKind,
  deliveryEvents,
  evolveDeliveries,
  isDeliveryEvent,
  newDelivery,
  type PlannedDelivery,
} from '../events/deliveries.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentIdOf,
  paymentStreamPrefix,
} from '../events/payment.ts';
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from '../eventstore/event-store.ts';
import { createTables, type Table, upsert } from '../postgres/table.ts';
import type { Followed, Projection } from '../projections/runtime/projection.ts';
import {
  type AddressedDelivery,
  deliveriesIndexes,
  deliveriesTable,
  type PaymentDeliveries,
  toDoSchema,
  writeDeliveries,
} from './table.ts';

const statusEvents = ['PaymentSucceeded', 'PaymentFailed', 'PaymentCancelled', 'PaymentPending'] as const;
/** They tell people something although the status stays. */
const announcingEvents = ['AmountMismatchDetected', 'ExceptionResolved'] as const;

export const toDoList = {
  name: toDoSchema,
  version: 1,
  isToDoList: true,
  eventTypes: [
    ...statusEvents,
    ...announcingEvents,
    ...Object.keys(adjustmentEvents),
    ...Object.keys(deliveryEvents),
  ],
} as const satisfies Followed;

/** What is known of a payment, as far as its deliveries depend on it. Plain JSON, no personal data. */
type Known = PaymentDeliveries & {
  /** Of the last event that was processed. */
  revision: number;
  /** Nothing changes the status after a success. */
  isPaid: boolean;
  /** How many results have set the status, and how often staff have adjusted it. */
  changes: number;
};

const paymentsTable: Table = {
  name: 'payments',
  columns: { transaction_id: 'text', known: 'json not null' },
  primaryKey: ['transaction_id'],
};

/** `announcer` names this process to those that listen for what is due. */
export function createToDoList({
  eventStore,
  announcer = '',
}: {
  eventStore: Pick<EventStore, 'load'>;
  announcer?: string;
}) {
  const due = new Set<DeliveryKind>();
  const projection: Projection = {
    ...toDoList,
    indexes: deliveriesIndexes,
    notDerived: { deliveries: ['lease_until', 'leased_by', 'leased_delivery'] },
    // For events of version 1 it loads streams, and Postgres ends a transaction that is idle for long.
    maxEvents: 100,
    createTables: (db) => createTables(db, paymentsTable, deliveriesTable),
    async project(events, db) {
      const ours = events.filter(({ streamName }) => streamName.startsWith(paymentStreamPrefix));
      const ids = new Set(ours.map(({ streamName }) => paymentIdOf(streamName)));
      const { rows } = await db.raw<{ rows: { known: Known }[] }>(
        'select known from payments where transaction_id = any(?)',
        [[...ids]],
      );
      const stored = new Map(rows.map(({ known }) => [known.transactionId, known]));
      const changed = await take(ours, stored, eventStore);
      const written = changed.map((known) => ({
        transaction_id: known.transactionId,
        known: JSON.stringify(known),
      }));
      await upsert(db, paymentsTable, written, ['known']);
      for (const kind of await writeDeliveries(changed, announcer, db)) due.add(kind);
    },
  };
  return {
    projection,
    /** The kinds of which something has become due since the last call. */
    takeDue(): DeliveryKind[] {
      const kinds = [...due];
      due.clear();
      return kinds;
    },
  };
}

/** The payments that the events changed. Skips events that were processed before. */
async function take(
  events: readonly RecordedEvent[],
  stored: ReadonlyMap<string, Known>,
  eventStore: Pick<EventStore, 'load'>,
): Promise<Known[]> {
  const changed = new Map<string, Known>();
  const unread = events.filter(
    (event) => event.revision > (stored.get(paymentIdOf(event.streamName))?.revision ?? -1),
  );
  const read = unread.map((event) => ({ recorded: event, event: readPaymentEvent(event) }));
  const byRule1 = new Set(
    read
      .filter(({ event }) => 'deliveries' in event.data && event.data.deliveries === 'rule 1')
      .map(({ recorded }) => recorded),
  );
  const folded = await foldByRule1([...byRule1], eventStore);
  for (const { recorded, event } of read) {
    const id = paymentIdOf(recorded.streamName);
    const before = changed.get(id) ?? stored.get(id) ?? nothingKnown(id);
    if (recorded.revision <= before.revision) continue;
    const after = byRule1.has(recorded) ? folded.get(recorded) : next(before, event);
    if (!after)
      throw new EventStoreUnavailable(`Stream ${recorded.streamName} was read without an event that it has`);
    changed.set(id, { ...after, revision: recorded.revision });
  }
  return [...changed.values()];
}

function isStatusEvent({ type }: PaymentEvent): boolean {
  return statusEvents.some((each) => each === type);
}

function nothingKnown(transactionId: string): Known {
  return { transactionId, revision: -1, merchantCode: '', isPaid: false, changes: 0, deliveries: [] };
}

function next(known: Known, event: PaymentEvent): Known {
  if (isDeliveryEvent(event)) return { ...known, deliveries: evolveDeliveries(known.deliveries, event) };
  if (!('deliveries' in event.data)) return known;
  const { at, deliveries, merchantCode } = event.data;
  // As in `evolve`: a success is final.
  if (!deliveries || deliveries === 'rule 1' || (known.isPaid && isStatusEvent(event))) return known;
  const changes = known.changes + 1;
  const added = deliveries.map(
    (planned): AddressedDelivery => ({
      ...newDelivery(planned, changes, at),
      receiver: receiverOf(planned.kind, planned.kind === 'callback' ? planned.url : ''),
    }),
  );
  return {
    ...known,
    merchantCode: merchantCode ?? '',
    isPaid: known.isPaid || pays(event),
    changes,
    deliveries: [...known.deliveries, ...added],
  };
}

function pays({ type, data }: PaymentEvent): boolean {
  return type === 'PaymentSucceeded' || ('effect' in data && data.effect === 'paid');
}

/** How many streams are loaded at a time. */
const loadsAtOnce = 16;

/** Events of version 1 do not say what they set in motion: what is known after each of them, from the payment's own fold. */
async function foldByRule1(
  events: readonly RecordedEvent[],
  eventStore: Pick<EventStore, 'load'>,
): Promise<Map<RecordedEvent, Known>> {
  const folded = new Map<RecordedEvent, Known>();
  const streams = [...Map.groupBy(events, ({ streamName }) => streamName)];
  for (let from = 0; from < streams.length; from += loadsAtOnce)
    await Promise.all(
      streams.slice(from, from + loadsAtOnce).map(async ([streamName, wanted]) => {
        let payment: Payment = noPayment;
        for (const event of await eventStore.load(streamName)) {
          payment = evolve(payment, readPaymentEvent(event));
          const found = wanted.find(({ revision }) => revision === event.revision);
          if (found) folded.set(found, knownOf(found, payment));
          if (event.revision >= (wanted.at(-1)?.revision ?? 0)) break;
        }
      }),
    );
  return folded;
}

function knownOf(event: RecordedEvent, payment: Payment): Known {
  const known = nothingKnown(paymentIdOf(event.streamName));
  if (payment.status === 'none') return known;
  const { callbackUrl, merchant } = payment.request;
  return {
    ...known,
    merchantCode: merchant.code,
    isPaid: payment.status === 'succeeded',
    changes: changesOf(payment),
    deliveries: payment.deliveries.map((delivery) => ({
      ...delivery,
      receiver: receiverOf(delivery.kind, callbackUrl),
    })),
  };
}

/** Deliveries are limited by receiver, so that one that hangs or is down does not delay the others. */
function receiverOf(kind: PlannedDelivery['kind'], url: string): string {
  if (kind === 'callback') return (URL.parse(url)?.origin ?? 'unreadable').slice(0, 300);
  return { item: 'land registry', email: 'mail server' }[kind];
}
