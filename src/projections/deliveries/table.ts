/**
 * The to-do list of the reactors: a row for each thing that a payment's outcome calls for. The projection `payments`
 * writes this table in the transaction that shows the outcome. queue.ts claims rows, queries.ts lists them.
 */
import type { Knex } from 'knex';
import type { Delivery, DeliveryKind } from '../../events/deliveries.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import { indexable, insertGiven, type Row, type Table } from '../../postgres/table.ts';

/** The Postgres channel that announces rows that are due. */
export const dueChannel = 'deliveries_due';

const derivedColumns = {
  transaction_id: 'text not null',
  ordering_key: 'text not null',
  delivery: 'text not null',
  kind: 'text not null',
  receiver: 'text not null',
  merchant_code: 'text not null',
  state: 'text not null',
  due_at: 'timestamptz not null',
  attempts: 'integer not null',
  called_at: 'timestamptz not null',
  settled_at: 'timestamptz',
};

export const deliveriesTable: Table = {
  name: 'deliveries',
  columns: {
    ...derivedColumns,
    lease_until: 'timestamptz',
    leased_by: 'text',
    leased_delivery: 'text',
  },
  primaryKey: ['transaction_id', 'ordering_key'],
};

export const deliveriesIndexes = [
  `deliveries_due on deliveries (kind, receiver, merchant_code, due_at) where state = 'due'`,
  'deliveries_by_state on deliveries (state, called_at)',
  'deliveries_by_call on deliveries (called_at)',
];

/**
 * Copies the leases from the table in another schema to the one in the current schema. Claims wait until the
 * transaction ends; they then find the new table with the leases.
 */
export async function carryLeasesOver(db: Knex.Transaction, schema: string): Promise<void> {
  await db.raw('lock table ??.deliveries in share row exclusive mode', [schema]);
  await db.raw(
    `update deliveries as mine set
       lease_until = theirs.lease_until, leased_by = theirs.leased_by, leased_delivery = theirs.leased_delivery
     from ??.deliveries as theirs
     where theirs.state = 'due' and theirs.lease_until is not null
       and mine.transaction_id = theirs.transaction_id and mine.ordering_key = theirs.ordering_key`,
    [schema],
  );
}

/**
 * Deliveries with the same key are sent one after the other and share a row, which is about the newest. All callbacks
 * of a payment share a key; each item of the land registry and the email has its own.
 */
export function orderingKeyOf({ kind, key }: Delivery): string {
  return kind === 'callback' ? 'callback' : key;
}

/** Attempts ever made under an ordering key: a row with fewer is behind its stream. */
export function attemptsOf(orderingKey: string, deliveries: readonly Delivery[]): number {
  return deliveries
    .filter((delivery) => orderingKeyOf(delivery) === orderingKey)
    .reduce((sum, { attempts }) => sum + attempts, 0);
}

export async function writeDeliveries(
  payments: readonly { id: string; state: RequestedPayment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ id, state }) => rowsOf(id, state));
  if (rows.length > 0) await db.raw(upsertAndAnnounce, [JSON.stringify(rows), dueChannel]);
}

/** The newest delivery of each ordering key. */
function rowsOf(
  transactionId: string,
  { deliveries, request }: RequestedPayment,
): Row<keyof typeof derivedColumns>[] {
  const newest = new Map(deliveries.map((delivery) => [orderingKeyOf(delivery), delivery]));
  return Array.from(newest, ([orderingKey, delivery]) => ({
    transaction_id: transactionId,
    ordering_key: orderingKey,
    delivery: delivery.key,
    kind: delivery.kind,
    receiver: receiverOf(delivery.kind, request.callbackUrl),
    merchant_code: indexable(request.merchant.code),
    state: delivery.state,
    due_at: delivery.dueAt,
    attempts: attemptsOf(orderingKey, deliveries),
    called_at: delivery.calledAt,
    settled_at: delivery.settledAt,
  }));
}

/** Deliveries are limited by receiver, so that one that hangs or is down does not delay the others. */
function receiverOf(kind: DeliveryKind, callbackUrl: string): string {
  if (kind === 'callback') return (URL.parse(callbackUrl)?.origin ?? 'unreadable').slice(0, 300);
  return { item: 'land registry', email: 'mail server' }[kind];
}

// A lease ends when its attempt is recorded, by any process; no other change affects it. A row that was postponed can
// be claimed at once when it has changed.
const upsertAndAnnounce = `
  with written as (
    ${insertGiven({ name: 'deliveries', columns: derivedColumns })}
    on conflict (transaction_id, ordering_key) do update set
      delivery = excluded.delivery, state = excluded.state, due_at = excluded.due_at, attempts = excluded.attempts,
      called_at = excluded.called_at, settled_at = excluded.settled_at,
      lease_until = case
        when excluded.attempts = deliveries.attempts and deliveries.leased_by is not null then deliveries.lease_until
      end,
      leased_by = case when excluded.attempts = deliveries.attempts then deliveries.leased_by end,
      leased_delivery = case when excluded.attempts = deliveries.attempts then deliveries.leased_delivery end
    where (deliveries.delivery, deliveries.state, deliveries.due_at, deliveries.attempts, deliveries.settled_at)
      is distinct from (excluded.delivery, excluded.state, excluded.due_at, excluded.attempts, excluded.settled_at)
    returning state, due_at
  )
  select pg_notify(?, '') from written where state = 'due' and due_at <= now() limit 1`;
