/**
 * Queries of staff on the to-do list of deliveries, which is empty until the reactors have run for the first time. Each
 * rejects within a few seconds when Postgres is down.
 */
import { unlessUndefined } from '@ledger/postgres/error-codes.ts';
import { indexable, matching, type TimeSpan, within } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { Delivery, DeliveryKind } from '../events/deliveries.ts';
import { toDoSchema } from './delivery-rows.ts';

/** Null, or an empty list, means all. */
export type DeliveryFilter = {
  states: readonly Delivery['state'][];
  kinds: readonly DeliveryKind[];
  /** The receiver's name in the list, with or without the scheme: host and port, `land registry` or `mail server`. */
  receiver?: string | null;
  merchantCode?: string | null;
  transactionId?: string | null;
  /** When the outcome that it reports was recorded. */
  called?: TimeSpan | null;
};

/** The newest delivery of a payment with this ordering key. */
export type ListedDelivery = {
  transactionId: string;
  reference: string | null;
  orderingKey: string;
  delivery: string;
  kind: DeliveryKind;
  receiver: string;
  merchantCode: string;
  state: Delivery['state'];
  /** When the next attempt is due, or the last one was. */
  dueAt: Date;
  /** Made so far with this ordering key. */
  attempts: number;
  calledAt: Date;
  settledAt: Date | null;
};

/** The rows of a query of deliveries, the oldest first. */
export async function findDeliveries(
  deliveries: Knex.QueryBuilder,
  limit: number,
): Promise<Pick<ListedDelivery, 'transactionId' | 'delivery'>[]> {
  const query = deliveries.select('delivery', { transactionId: 'transaction_id' });
  return await unlessUndefined(query.orderBy('called_at').limit(limit).timeout(5_000), []);
}

/** How many deliveries a query has; `atMost` if there are more. */
export async function countDeliveries(db: Knex, deliveries: Knex.QueryBuilder, atMost: number) {
  const found = deliveries.select('state').limit(atMost).as('found');
  const query = db.from(found).count({ count: '*' }).first<{ count: number }>().timeout(5_000);
  return (await unlessUndefined(query, { count: 0 })).count;
}

export function deliveriesOf(
  db: Knex,
  { called, kinds, merchantCode, receiver, states, transactionId }: DeliveryFilter,
) {
  const query = db(`${toDoSchema}.deliveries`);
  if (states.length > 0) query.whereIn('state', states);
  if (kinds.length > 0) query.whereIn('kind', kinds);
  const receivers = receiver && ['', 'https://', 'http://'].map((scheme) => indexable(scheme + receiver));
  if (receivers) query.whereIn('receiver', receivers);
  matching(query, { merchant_code: merchantCode, transaction_id: transactionId });
  within(query, 'called_at', called);
  return query;
}
