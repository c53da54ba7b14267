// What staff ask of deliveries: the list, page by page, its count and what would be sent again, against the fold.
import { pagesOf } from '@ledger/kernel/pages.ts';
import { type Listed, type ListPage, readPage } from '@ledger/postgres/listing.ts';
import { indexable } from '@ledger/postgres/table.ts';
import test from 'ava';
import fc from 'fast-check';
import type { Knex } from 'knex';
import lists from '../../content/tables/lists.json' with { type: 'json' };
import {
  countDeliveries,
  type DeliveryFilter,
  deliveriesOf,
  findDeliveries,
  type ListedDelivery,
} from '../../src/to-do/delivery-queries.ts';
import { attemptsOf, orderingKeyOf } from '../../src/to-do/delivery-rows.ts';
import { day, emptyTables, type Filled, fillPayments, historyOfDay } from '../projections/filled.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';

const postgres = await createDatabase();

const receivers = ['https://one.example', 'land registry', 'mail server', 'nobody'];
const filters: fc.Arbitrary<Required<DeliveryFilter>> = fc.record({
  states: fc.subarray(['due', 'delivered', 'superseded', 'abandoned'] as const),
  kinds: fc.subarray(['callback', 'item', 'email'] as const),
  receiver: fc.option(fc.constantFrom(...receivers), { freq: 2 }),
  merchantCode: fc.option(fc.constantFrom('council', 'museum', '\0'), { freq: 2 }),
  transactionId: fc.constant(null),
  called: fc.option(fc.constant(day), { freq: 2 }),
});

const receiverOf = {
  callback: (url: string) => URL.parse(url)?.origin ?? 'unreadable',
  item: () => 'land registry',
  email: () => 'mail server',
};

/** The newest delivery of each ordering key, as the list should have it, the latest first. */
function expectedRows(filled: readonly Filled[]): ListedDelivery[] {
  const rows = filled.flatMap(({ id, state: { deliveries, request } }) => {
    const newest = new Map(deliveries.map((delivery) => [orderingKeyOf(delivery), delivery]));
    return Array.from(newest, ([orderingKey, { key, kind, state, dueAt, calledAt, settledAt }]) => ({
      transactionId: id,
      reference: indexable(request.reference),
      orderingKey,
      delivery: key,
      kind,
      receiver: receiverOf[kind](request.callbackUrl),
      merchantCode: indexable(request.merchant.code),
      state,
      dueAt: new Date(dueAt),
      attempts: attemptsOf(orderingKey, deliveries),
      calledAt: new Date(calledAt),
      settledAt: settledAt === null ? null : new Date(settledAt),
    }));
  });
  const keyOf = ({ calledAt, transactionId, orderingKey }: ListedDelivery) =>
    `${calledAt.toISOString()} ${transactionId} ${orderingKey}`;
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
}

/** As the console lists them. */
const listDeliveries = (db: Knex, filter: DeliveryFilter, page: ListPage) =>
  readPage<ListedDelivery>(db, deliveriesOf(db, filter), lists.deliveries, page);

const withoutCursor = <Row>({ cursor: _, ...row }: Listed<Row>) => row;

function matches(
  { states, kinds, receiver, merchantCode, called }: Required<DeliveryFilter>,
  row: ListedDelivery,
) {
  const calledAt = row.calledAt.toISOString();
  return (
    (states.length === 0 || states.includes(row.state)) &&
    (kinds.length === 0 || kinds.includes(row.kind)) &&
    (receiver === null || row.receiver === receiver) &&
    (merchantCode === null || row.merchantCode === indexable(merchantCode)) &&
    (called === null || (calledAt >= called.start && calledAt < called.end))
  );
}

test.serial('whatever the payments and the filter, the list is what a fold says', async (t) => {
  const db = await emptyTables(postgres);
  let rowsSeen = 0;
  const histories = fc.array(historyOfDay, { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(histories, filters, fc.integer({ min: 1, max: 4 }), async (events, filter, limit) => {
      const expected = expectedRows(await fillPayments(db, events)).filter((row) => matches(filter, row));
      const listed: ListedDelivery[] = [];
      const load = (after: Listed<ListedDelivery> | null) => listDeliveries(db, filter, { limit, after });
      for await (const page of pagesOf(limit, load)) listed.push(...page.map(withoutCursor));
      t.deepEqual(listed, expected);
      rowsSeen += listed.length;

      t.is(await countDeliveries(db, deliveriesOf(db, filter), 1_000), expected.length);
      t.is(await countDeliveries(db, deliveriesOf(db, filter), 2), Math.min(expected.length, 2));
      const found = await findDeliveries(deliveriesOf(db, filter), 1_000);
      const pairs = (rows: readonly { transactionId: string; delivery: string }[]) =>
        rows.map(({ transactionId, delivery }) => `${transactionId} ${delivery}`).toSorted();
      t.deepEqual(pairs(found), pairs(expected));
      t.is((await findDeliveries(deliveriesOf(db, filter), 1)).length, Math.min(expected.length, 1));
    }),
    { numRuns: runs(60) },
  );
  t.true(rowsSeen > 0);
});

test.serial('no payments, no deliveries', async (t) => {
  const db = await emptyTables(postgres);
  const allDeliveries = { states: [], kinds: [] };
  t.deepEqual(await listDeliveries(db, allDeliveries, { limit: 5, after: null }), []);
  t.is(await countDeliveries(db, deliveriesOf(db, allDeliveries), 5), 0);
});
