/** Tables filled by the projections themselves, without an event store: for tests of what is asked of them. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import fc from 'fast-check';
import type { Knex } from 'knex';
import {
  evolve,
  noPayment,
  type PaymentEvent,
  paymentStream,
  type RequestedPayment,
} from '../../src/events/payment.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { journal } from '../../src/projections/journal/projection.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { reconciliation } from '../../src/projections/reconciliation/projection.ts';
import { unmatched } from '../../src/projections/unmatched/projection.ts';
import { createDeliveryList } from '../../src/to-do/delivery-list.ts';
import { personalData } from '../support/personal-data.ts';
import { emptyDatabase, type Postgres } from './helpers.ts';
import { history } from './histories.ts';

/** The streams that were fed, for a projection that loads them. */
const streams = new Map<string, RecordedEvent[]>();
const toDo = createDeliveryList({ eventStore: { load: async (name) => streams.get(name) ?? [] } });

/** Empty tables of `payments`, `journal`, `unmatched`, `reconciliation` and the to-do list. */
export async function emptyTables(postgres: Postgres): Promise<Knex> {
  const { db } = await emptyDatabase(postgres);
  for (const projection of [payments, journal, unmatched, reconciliation, toDo])
    await prepare(db, projection, projection.name);
  return db;
}

/** Feeds a projection with one stream's events, from its first on or from a later revision. */
export async function feed(
  db: Knex,
  projection: Projection,
  streamName: string,
  events: readonly { type: string; data: unknown }[],
  from = 0,
): Promise<void> {
  const recorded = events.map(
    ({ type, data }, revision): RecordedEvent => ({
      id: '',
      type,
      data,
      metadata: { schemaVersion },
      streamName,
      revision,
      position: { commit: 0n, prepare: 0n },
      created: new Date(0),
    }),
  );
  streams.set(streamName, recorded);
  const news = recorded.slice(from);
  const selected = 'eventTypes' in projection ? news.filter(isOneOf(projection.eventTypes)) : news;
  await inSchema(db, projection, (trx) => projection.project(selected, trx, personalData));
}

const isOneOf =
  (types: readonly string[]) =>
  ({ type }: RecordedEvent) =>
    types.includes(type);

/** Feeds the to-do list with a payment's events, from its first on. */
export async function feedToDo(db: Knex, id: string, events: readonly PaymentEvent[]): Promise<void> {
  await feed(db, toDo, paymentStream(id), events);
}

export type Filled = { id: string; state: RequestedPayment };

/** Writes payments with these histories, `P0`, `P1`, …; returns what each folds to. */
export async function fillPayments(db: Knex, histories: readonly PaymentEvent[][]): Promise<Filled[]> {
  await db.raw('truncate payments.payments, payments.exceptions');
  await db.raw('truncate reactor_deliveries.payments, reactor_deliveries.deliveries');
  const filled: Filled[] = [];
  for (const [index, events] of histories.entries()) {
    const id = `P${index}`;
    await feed(db, payments, paymentStream(id), events);
    await feedToDo(db, id, events);
    const state = events.reduce(evolve, noPayment);
    if (state.status !== 'none') filled.push({ id, state });
  }
  return filled;
}

async function inSchema(
  db: Knex,
  { name }: Projection,
  work: (trx: Knex.Transaction) => Promise<void>,
): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local search_path to ??', [name]);
    await work(trx);
  });
}

/** A Malaysian day, and moments around its ends: some of them are the same, and some at midnight itself. */
export const day = { start: '2026-11-19T16:00:00.000Z', end: '2026-11-20T16:00:00.000Z' };
const moments = fc.oneof(
  fc.constantFrom(day.start, day.end, '2026-11-19T15:59:59.999Z', '2026-11-20T15:59:59.999Z'),
  fc
    .date({ min: new Date('2026-11-19T08:00Z'), max: new Date('2026-11-20T23:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
);

/** Any history of a few merchants and receivers around that day. */
export const historyOfDay: fc.Arbitrary<PaymentEvent[]> = fc
  .tuple(
    history,
    fc.array(moments, { minLength: 24, maxLength: 24 }),
    fc.constantFrom('council', 'museum', '\0'),
    fc.constantFrom('', 'https://one.example/callback', 'https://two.example/'),
  )
  .map(([events, times, code, callbackUrl]) => {
    const next = () => times.pop() ?? day.start;
    return events.map((event) => {
      const data: Record<string, unknown> = { ...event.data, at: next() };
      if ('result' in event.data && event.data.result.paidAt !== null)
        data.result = { ...event.data.result, paidAt: next() };
      const deliveries = 'deliveries' in event.data ? event.data.deliveries : undefined;
      // As it is read: version 1 named no merchant.
      if (deliveries === 'rule 1') data.merchantCode = null;
      else if (deliveries)
        Object.assign(data, {
          merchantCode: code,
          deliveries: deliveries.map((each) =>
            each.kind === 'callback' ? { ...each, url: callbackUrl } : each,
          ),
        });
      if (event.type === 'PaymentRequested')
        Object.assign(data, { callbackUrl, merchant: { ...event.data.merchant, code } });
      return { type: event.type, data } as PaymentEvent;
    });
  });
