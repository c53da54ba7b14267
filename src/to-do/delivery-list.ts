/**
 * The reactors' own list of deliveries, made from the log: results that set the status put deliveries on it, and the events
 * about deliveries settle them. The reactors role runs it, so that nothing waits for the read models. It is not rebuilt,
 * because its rows also hold the leases of attempts that are under way. known-deliveries.ts folds a payment's events,
 * delivery-rows.ts writes its rows, delivery-queue.ts claims them, delivery-queries.ts lists them.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { mapInPortions, pagesOf } from '@ledger/kernel/pages.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, indexesOf } from '@ledger/postgres/table.ts';
import type { Followed, Projection } from '@ledger/projections/runtime/projection.ts';
import tables from '../../content/tables/to-do.json' with { type: 'json' };
import { sqlOf } from '../common/sql.ts';
import { paymentIdOf, paymentStream, paymentStreamPrefix, readPaymentEvent } from '../events/payment.ts';
import { revisionIn, toDoSchema, writePayments } from './delivery-rows.ts';
import {
  followedEvents,
  type KnownDeliveries,
  needsRequest,
  nothingKnown,
  requestIn,
  takeEvent,
} from './known-deliveries.ts';

const streamsAtOnce = 16;

export const deliveryList = {
  name: toDoSchema,
  version: 1,
  isNeverRebuilt: true,
  eventTypes: followedEvents,
} as const satisfies Followed;

/** `announces`: whether the workers of every process are told what becomes due. */
export function createDeliveryList({
  eventStore,
  announces = false,
}: {
  eventStore: Pick<EventStore, 'load'>;
  announces?: boolean;
}): Projection {
  return {
    ...deliveryList,
    indexes: indexesOf(tables.deliveries),
    notDerived: { deliveries: Object.keys(tables.deliveries.moreColumns) },
    // It loads the requests of payments of version 1, and Postgres ends a transaction that is idle for long.
    maxEvents: 1_000,
    // Nothing is left to do after these.
    canWait: ({ type }) => type === 'CallbackDelivered' || type === 'ReceiptEmailSent',
    createTables: (db) => createTables(db, tables.payments, tables.deliveries),
    async *eventsAhead(db, fresh, since) {
      if (since !== null) await db.raw(`lock table ${toDoSchema}.payments in share mode`);
      const load = async (last: Ahead | null) =>
        (await db.raw<{ rows: Ahead[] }>(paymentsAhead, [fresh, last?.transactionId ?? '', since])).rows;
      for await (const rows of pagesOf(aheadAtOnce, load)) yield await loadAhead(rows, eventStore);
    },
    async project(events, db) {
      const ours = events.filter(({ streamName }) => streamName.startsWith(paymentStreamPrefix));
      const ids = new Set(ours.map(({ streamName }) => paymentIdOf(streamName)));
      // Locked, because reactors settle rows too, and what was folded from a row must not replace a newer one.
      const { rows } = await prepared<{ rows: { known: KnownDeliveries }[] }>(
        db,
        'select known from payments where transaction_id = any(?) for update',
        [[...ids]],
      );
      const stored = new Map(rows.map(({ known }) => [known.transactionId, known]));
      const changed = await foldEvents(ours, stored, eventStore);
      await writePayments(changed, announces, db);
    },
  };
}

/** The payments that the events changed. Skips events that were processed before. */
async function foldEvents(
  events: readonly RecordedEvent[],
  stored: ReadonlyMap<string, KnownDeliveries>,
  eventStore: Pick<EventStore, 'load'>,
): Promise<KnownDeliveries[]> {
  const news = events
    .map((recorded) => ({ id: paymentIdOf(recorded.streamName), recorded, revision: recorded.revision }))
    .filter(({ id, revision }) => revision > (stored.get(id)?.revision ?? -1))
    .map((each) => ({ ...each, event: readPaymentEvent(each.recorded) }));
  const incomplete = news.filter(({ event, id }) => needsRequest(event) && !stored.get(id)?.request);
  const requests = await loadRequests(new Set(incomplete.map(({ id }) => id)), eventStore);
  const changed = new Map<string, KnownDeliveries>();
  for (const { event, id, revision } of news) {
    const known = changed.get(id) ?? { ...(stored.get(id) ?? nothingKnown(id)), ...requests.get(id) };
    if (revision > known.revision) changed.set(id, takeEvent(known, { event, revision }));
  }
  return [...changed.values()];
}

/** What payments of version 1 were asked to do. */
async function loadRequests(
  ids: ReadonlySet<string>,
  { load }: Pick<EventStore, 'load'>,
): Promise<Map<string, Pick<KnownDeliveries, 'request'>>> {
  const requests = await mapInPortions([...ids], streamsAtOnce, async (id) => {
    const [first] = await load(paymentStream(id), 0, 1);
    if (!first) throw new EventStoreUnavailable(`Of ${id} an event was read, and no stream is found`);
    return [id, requestIn(readPaymentEvent(first))] as const;
  });
  return new Map(requests);
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
  const streams = await mapInPortions(payments, streamsAtOnce, async ({ transactionId, after, upTo }) => {
    const events = await load(paymentStream(transactionId), after + 1);
    return events.filter(({ revision, type }) => revision <= upTo && followedEvents.includes(type));
  });
  return streams.flat();
}
