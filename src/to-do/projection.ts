/**
 * The reactors' own to-do list, made from the log: results that set the status put deliveries on it, and the events about
 * deliveries settle them. The reactors role runs it, so that nothing waits for the read models. It is not rebuilt,
 * because its rows also hold the leases of attempts that are under way.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { pagesOf, portionsOf } from '@ledger/kernel/pages.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, indexesOf } from '@ledger/postgres/table.ts';
import type { Followed, Projection } from '@ledger/projections/runtime/projection.ts';
import tables from '../../content/tables/to-do.json' with { type: 'json' };
import { sqlOf } from '../common/sql.ts';
import { adjustmentEvents } from '../events/adjustments.ts';
import {
  type DeliveryKind,
  deliveryEvents,
  evolveDeliveries,
  isDeliveryEvent,
  newDelivery,
  type PlannedDelivery,
} from '../events/deliveries.ts';
import {
  type PaymentEvent,
  paymentIdOf,
  paymentStream,
  paymentStreamPrefix,
  readPaymentEvent,
} from '../events/payment.ts';
import { deliveriesByRule1 } from '../events/upcast-rules.ts';
import {
  type AddressedDelivery,
  type PaymentDeliveries,
  revisionIn,
  toDoSchema,
  writePayments,
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
export type Known = PaymentDeliveries & {
  /** Of the last event that was processed. */
  revision: number;
  /** Nothing changes the status after a success. */
  isPaid: boolean;
  /** How many results have set the status, and how often staff have adjusted it. */
  changes: number;
  /** What events of version 1 need, because they do not say what they set in motion. */
  request?: Parameters<typeof deliveriesByRule1>[0]['request'] & { merchantCode: string };
};

/** `announcer` names this process, without a blank, to those that listen for what is due. */
export function createToDoList(dependencies: { eventStore: Pick<EventStore, 'load'>; announcer?: string }) {
  const { eventStore, announcer = '' } = dependencies;
  const due = new Set<DeliveryKind>();
  const projection: Projection = {
    ...toDoList,
    indexes: indexesOf(tables.deliveries),
    notDerived: { deliveries: Object.keys(tables.deliveries.moreColumns) },
    // Of payments of version 1 it loads the request, and Postgres ends a transaction that is idle for long.
    maxEvents: 1_000,
    // Nothing is left to do after these.
    canWait: ({ type }) => type === 'CallbackDelivered' || type === 'ReceiptEmailSent',
    createTables: (db) => createTables(db, tables.payments, tables.deliveries),
    async *eventsAhead(db, fresh, holds) {
      if (holds) await db.raw(`lock table ${toDoSchema}.payments in share mode`);
      const load = async (last: Ahead | null) =>
        (await db.raw<{ rows: Ahead[] }>(paymentsAhead, [fresh, last?.transactionId ?? ''])).rows;
      for await (const rows of pagesOf(aheadAtOnce, load)) yield await loadAhead(rows, eventStore);
    },
    async project(events, db) {
      const ours = events.filter(({ streamName }) => streamName.startsWith(paymentStreamPrefix));
      const ids = new Set(ours.map(({ streamName }) => paymentIdOf(streamName)));
      // Locked, because reactors settle rows too, and what was folded from a row must not replace a newer one.
      const { rows } = await prepared<{ rows: { known: Known }[] }>(
        db,
        'select known from payments where transaction_id = any(?) for update',
        [[...ids]],
      );
      const stored = new Map(rows.map(({ known }) => [known.transactionId, known]));
      const changed = await take(ours, stored, eventStore);
      for (const kind of await writePayments(changed, announcer, db)) due.add(kind);
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

/** An event of a payment's stream, and where it is in it. */
export type PlacedEvent = { revision: number; event: PaymentEvent };

/** What the list knows of a payment after these events, which are its whole stream. */
export function foldStream(transactionId: string, events: readonly PlacedEvent[]): Known {
  const selected = events.filter(({ event }) => toDoList.eventTypes.includes(event.type));
  const request = selected.some(({ event }) => isOfRule1(event)) && events[0] && requestOf(events[0].event);
  return selected.reduce<Known>((known, { event, revision }) => ({ ...next(known, event), revision }), {
    ...nothingKnown(transactionId),
    ...request,
  });
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
  const withoutRequest = read
    .filter(({ event }) => isOfRule1(event))
    .map(({ recorded }) => paymentIdOf(recorded.streamName))
    .filter((id) => !stored.get(id)?.request);
  const requests = await loadRequests([...new Set(withoutRequest)], eventStore);
  for (const { recorded, event } of read) {
    const id = paymentIdOf(recorded.streamName);
    const before = changed.get(id) ?? { ...(stored.get(id) ?? nothingKnown(id)), ...requests.get(id) };
    if (recorded.revision <= before.revision) continue;
    changed.set(id, { ...next(before, event), revision: recorded.revision });
  }
  return [...changed.values()];
}

function isOfRule1({ data }: PaymentEvent): boolean {
  return 'deliveries' in data && data.deliveries === 'rule 1';
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
  if (!deliveries || (known.isPaid && isStatusEvent(event))) return known;
  const changes = known.changes + 1;
  const isPaid = known.isPaid || pays(event);
  const added = (deliveries === 'rule 1' ? plannedByRule1(known, isPaid, changes) : deliveries).map(
    (planned): AddressedDelivery => ({
      ...newDelivery(planned, changes, at),
      receiver: receiverOf(planned.kind, planned.kind === 'callback' ? planned.url : ''),
    }),
  );
  return {
    ...known,
    merchantCode: (deliveries === 'rule 1' ? known.request?.merchantCode : merchantCode) ?? '',
    isPaid,
    changes,
    deliveries: [...known.deliveries, ...added],
  };
}

function pays({ type, data }: PaymentEvent): boolean {
  return type === 'PaymentSucceeded' || ('effect' in data && data.effect === 'paid');
}

function plannedByRule1({ request }: Known, isPaid: boolean, change: number): PlannedDelivery[] {
  return request ? deliveriesByRule1({ request, status: isPaid ? 'succeeded' : 'other' }, change) : [];
}

/** The revisions of a payment that reactors have settled before the list came to them. */
type Ahead = { transactionId: string; after: number; upTo: number };

const aheadAtOnce = 500;
const revisions = { fresh: revisionIn('fresh.known'), serving: revisionIn('serving.known') };
const paymentsAhead = sqlOf('payments-ahead', { ...revisions, atOnce: aheadAtOnce });

async function loadAhead(
  payments: readonly Ahead[],
  { load }: Pick<EventStore, 'load'>,
): Promise<RecordedEvent[]> {
  const streams = await inPortions(payments, async ({ transactionId, after, upTo }) => {
    const events = await load(paymentStream(transactionId), after + 1);
    return events.filter(({ revision, type }) => revision <= upTo && toDoList.eventTypes.includes(type));
  });
  return streams.flat();
}

/** How many streams are loaded at a time. */
const loadsAtOnce = 16;

async function inPortions<Of, Result>(
  all: readonly Of[],
  load: (each: Of) => Promise<Result>,
): Promise<Result[]> {
  const loaded: Result[] = [];
  for (const portion of portionsOf(all, loadsAtOnce)) loaded.push(...(await Promise.all(portion.map(load))));
  return loaded;
}

/** What payments of version 1 were asked to do. */
async function loadRequests(
  ids: readonly string[],
  { load }: Pick<EventStore, 'load'>,
): Promise<Map<string, Pick<Known, 'request'>>> {
  const requests = await inPortions(ids, async (id) => {
    const [first] = await load(paymentStream(id), 0, 1);
    if (!first) throw new EventStoreUnavailable(`Of ${id} an event was read, and no stream is found`);
    return [id, requestOf(readPaymentEvent(first))] as const;
  });
  return new Map(requests);
}

/** Nothing if the stream begins with something else. */
function requestOf({ type, data }: PaymentEvent): Pick<Known, 'request'> {
  if (type !== 'PaymentRequested') return {};
  const { callbackUrl, channel, emailReceipt, items, merchant } = data;
  const { code: merchantCode } = merchant;
  return { request: { callbackUrl, channel, emailReceipt, items: items.map(() => null), merchantCode } };
}

/** Deliveries are limited by receiver, so that one that hangs or is down does not delay the others. */
function receiverOf(kind: PlannedDelivery['kind'], url: string): string {
  if (kind === 'callback') return (URL.parse(url)?.origin ?? 'unreadable').slice(0, 300);
  return { item: 'land registry', email: 'mail server' }[kind];
}
