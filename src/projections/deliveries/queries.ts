/** What staff ask of the to-do list of deliveries.ts: which there are, how many, and which to send again. */
import type { Knex } from 'knex';
import type { Delivery, DeliveryKind } from '../../events/deliveries.ts';
import { indexable } from '../../postgres/indexable.ts';
import { type TimeSpan, within } from '../../postgres/time-span.ts';
import { payments } from '../payments/projection.ts';

/** Null, or none named, is all. */
export type DeliveryFilter = {
  states: readonly Delivery['state'][];
  kinds: readonly DeliveryKind[];
  /** As a receiver is called in the list: scheme, host and port, `land registry` or `mail server`. */
  receiver: string | null;
  merchantCode: string | null;
  /** When the outcome that it tells of was recorded. */
  called: TimeSpan | null;
};

export const allDeliveries: DeliveryFilter = {
  states: [],
  kinds: [],
  receiver: null,
  merchantCode: null,
  called: null,
};

/** The newest delivery of a payment's ordering key. */
export type ListedDelivery = {
  transactionId: string;
  orderingKey: string;
  delivery: string;
  kind: DeliveryKind;
  receiver: string;
  merchantCode: string;
  state: Delivery['state'];
  /** The next attempt where it is due, else the last. */
  dueAt: Date;
  /** Made so far under this ordering key. */
  attempts: number;
  calledAt: Date;
  settledAt: Date | null;
};

/** Where a page of the list ends; the next one begins after it. */
export type DeliveryKey = Pick<ListedDelivery, 'calledAt' | 'transactionId' | 'orderingKey'>;
type DeliveryIds = Pick<ListedDelivery, 'transactionId' | 'delivery'>;

const columns = {
  transactionId: 'transaction_id',
  orderingKey: 'ordering_key',
  delivery: 'delivery',
  kind: 'kind',
  receiver: 'receiver',
  merchantCode: 'merchant_code',
  state: 'state',
  dueAt: 'due_at',
  attempts: 'attempts',
  calledAt: 'called_at',
  settledAt: 'settled_at',
};

const latestFirst = ['called_at', 'transaction_id', 'ordering_key'].map((column) => ({
  column,
  order: 'desc',
}));

/** Every query rejects within a few seconds when Postgres is down. */
export function createDeliveryList(db: Knex) {
  return {
    /** The latest called for first. */
    async list(
      filter: DeliveryFilter,
      { limit, after }: { limit: number; after: DeliveryKey | null },
    ): Promise<ListedDelivery[]> {
      const query = filtered(db, filter).select(columns).limit(limit).timeout(5_000);
      if (after)
        query.whereRaw('(called_at, transaction_id, ordering_key) < (?, ?, ?)', [
          after.calledAt,
          after.transactionId,
          after.orderingKey,
        ]);
      return await query.orderBy(latestFirst);
    },

    /** The oldest first. */
    async find(filter: DeliveryFilter, limit: number): Promise<DeliveryIds[]> {
      const { transactionId, delivery } = columns;
      const query = filtered(db, filter).select({ transactionId, delivery });
      return await query.orderBy('called_at').limit(limit).timeout(5_000);
    },

    /** How many there are; `atMost` when there are more. */
    async count(filter: DeliveryFilter, atMost: number): Promise<number> {
      const found = filtered(db, filter).select('ordering_key').limit(atMost).as('found');
      const counted = await db.from(found).count({ count: '*' }).first<{ count: number }>().timeout(5_000);
      return counted?.count ?? 0;
    },
  };
}

function filtered(db: Knex, { states, kinds, receiver, merchantCode, called }: DeliveryFilter) {
  const query = db(`${payments.name}.deliveries`);
  if (states.length > 0) query.whereIn('state', states);
  if (kinds.length > 0) query.whereIn('kind', kinds);
  if (receiver !== null) query.where('receiver', indexable(receiver));
  if (merchantCode !== null) query.where('merchant_code', indexable(merchantCode));
  within(query, 'called_at', called);
  return query;
}
