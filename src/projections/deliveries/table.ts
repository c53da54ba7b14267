/**
 * The to-do list of the reactors: one row for each thing that a payment's outcome set in motion. Written by the
 * projection `payments` from the states it folds, in the transaction that shows the outcome; claimed through
 * deliveries-queries.ts, listed through deliveries-list.ts.
 */
import type { Knex } from 'knex';
import type { Delivery, DeliveryKind } from '../../events/deliveries.ts';
import type { Payment, RequestedPayment } from '../../events/payment.ts';
import { indexable } from '../../postgres/indexable.ts';

/** Postgres' channel on which a row that is due is announced. */
export const dueChannel = 'deliveries_due';

/** Names no schema: the search path leads to the right one. */
export async function createDeliveriesTable(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    create table deliveries (
      transaction_id text not null,
      ordering_key text not null,
      delivery text not null,
      kind text not null,
      receiver text not null,
      merchant_code text not null,
      state text not null,
      due_at timestamptz not null,
      attempts integer not null,
      called_at timestamptz not null,
      settled_at timestamptz,
      lease_until timestamptz,
      leased_by text,
      leased_delivery text,
      primary key (transaction_id, ordering_key)
    )`);
}

export async function createDeliveriesIndexes(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    create index if not exists deliveries_due on deliveries (kind, receiver, merchant_code, due_at)
    where state = 'due'`);
  await db.raw('create index if not exists deliveries_by_state on deliveries (state, called_at)');
  await db.raw('create index if not exists deliveries_by_call on deliveries (called_at)');
}

/**
 * From the table of another schema to the same one in the current schema: who has a row to himself, and until when.
 * Nobody claims one there before the transaction ends; whoever tries then finds the new table, and the lease in it.
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
 * Callbacks of one payment go out one after the other, so they share a row: it is about the newest. The land
 * registry's items and the email go their own ways.
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

type Row = {
  transaction_id: string;
  ordering_key: string;
  delivery: string;
  kind: DeliveryKind;
  receiver: string;
  merchant_code: string;
  state: Delivery['state'];
  due_at: string;
  attempts: number;
  called_at: string;
  settled_at: string | null;
};

/** Writes what changed in the deliveries of these payments. */
export async function writeDeliveries(
  payments: readonly { transactionId: string; state: Payment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ transactionId, state }) =>
    state.status === 'none' ? [] : rowsOf(transactionId, state),
  );
  if (rows.length > 0) await db.raw(upsertAndAnnounce, [JSON.stringify(rows), dueChannel]);
}

function rowsOf(transactionId: string, { deliveries, request }: RequestedPayment): Row[] {
  const rows = new Map<string, Row>();
  for (const delivery of deliveries) {
    const orderingKey = orderingKeyOf(delivery);
    rows.set(orderingKey, {
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
    });
  }
  return [...rows.values()];
}

/** Whose trouble is whose: a receiver that hangs or is down must hold up nobody else's deliveries. */
function receiverOf(kind: DeliveryKind, callbackUrl: string): string {
  switch (kind) {
    case 'callback':
      return (URL.parse(callbackUrl)?.origin ?? 'unreadable').slice(0, 300);
    case 'item':
      return 'land registry';
    case 'email':
      return 'mail server';
  }
}

// A lease ends with the try that it was for, be it recorded by whoever; anything else leaves it alone. What was given
// back to be taken later can be taken at once when it has changed.
const upsertAndAnnounce = `
  with written as (
    insert into deliveries (
      transaction_id, ordering_key, delivery, kind, receiver, merchant_code, state, due_at, attempts, called_at, settled_at
    )
    select transaction_id, ordering_key, delivery, kind, receiver, merchant_code, state, due_at, attempts, called_at, settled_at
    from json_to_recordset(?) as changed (
      transaction_id text, ordering_key text, delivery text, kind text, receiver text, merchant_code text, state text,
      due_at timestamptz, attempts integer, called_at timestamptz, settled_at timestamptz
    )
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
