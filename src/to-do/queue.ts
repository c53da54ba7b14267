/** How reactors claim rows of the to-do list, any number of them at a time. */
import type { Knex } from 'knex';
import type { DeliveryKind } from '../events/deliveries.ts';
import { emptyIfUndefined } from '../postgres/error-codes.ts';
import { foldStream, type PlacedEvent } from './projection.ts';
import { settleDeliveries, toDoSchema } from './table.ts';

/** A row claimed by one reactor until its lease ends. */
export type ClaimedDelivery = {
  transactionId: string;
  orderingKey: string;
  /** The key of the newest delivery with this ordering key, as far as the row has been projected. */
  delivery: string;
  receiver: string;
  merchantCode: string;
  /** Attempts with this ordering key, likewise. */
  attempts: number;
  /** The key of the delivery of an earlier claim that ended without a recorded attempt and was not given back. */
  interrupted: string | null;
};

export type Claim = {
  kind: DeliveryKind;
  now: Date;
  leaseUntil: Date;
  holder: string;
  /** At most this many in all. */
  limit: number;
  /** At most this many for one receiver, unless `receiverLimits` has another limit for it. */
  limitPerReceiver: number;
  receiverLimits: ReadonlyMap<string, number>;
  /** At most this many for one merchant, unless `merchantLimits` has another limit for it. */
  limitPerMerchant: number;
  merchantLimits: ReadonlyMap<string, number>;
};

const table = `${toDoSchema}.deliveries`;

export type DeliveryQueue = ReturnType<typeof createDeliveryQueue>;

export function createDeliveryQueue(db: Knex) {
  return {
    /** Claims what is due, the longest due of each receiver first; nothing if the projection has never run. */
    async claim({ receiverLimits, merchantLimits, ...claim }: Claim): Promise<ClaimedDelivery[]> {
      const query = db.raw<{ rows: ClaimedDelivery[] }>(claimSql, {
        ...claim,
        receiverLimits: JSON.stringify(Object.fromEntries(receiverLimits)),
        merchantLimits: JSON.stringify(Object.fromEntries(merchantLimits)),
      });
      return await emptyIfUndefined(query.timeout(5_000));
    },

    /** Moves a row that is still held to where its whole stream leaves it, as the list will once it comes to the last event. */
    async settle(
      { transactionId, orderingKey }: ClaimedDelivery,
      holder: string,
      stream: readonly PlacedEvent[],
    ): Promise<void> {
      await settleDeliveries(foldStream(transactionId, stream), { orderingKey, holder }, db);
    },

    /** Gives a row back: it can be claimed again from `until` on, or at once when it has changed. */
    async postpone(claimed: ClaimedDelivery, holder: string, until: Date): Promise<void> {
      await db.raw(postponeSql, { ...claimed, holder, until }).timeout(5_000);
    },
  };
}

// Pairs of receiver and merchant are found by skipping along the index, so that a long queue costs no more than a short
// one. The limit of a merchant applies before that of a receiver, so that a merchant at its limit uses up none of a
// receiver's places that others need. The lease is checked twice, because a cutover may replace the table while a claim
// waits for its lock: it then chooses from the old table and updates the new one.
const claimSql = `
  with recursive senders as (
    (
      select receiver, merchant_code from ${table} where state = 'due' and kind = :kind
      order by receiver, merchant_code limit 1
    )
    union all
    select next.receiver, next.merchant_code
    from senders cross join lateral (
      select receiver, merchant_code from ${table}
      where state = 'due' and kind = :kind
        and (receiver, merchant_code) > (senders.receiver, senders.merchant_code)
      order by receiver, merchant_code limit 1
    ) next
  ),
  limited as (
    select receiver, merchant_code,
      coalesce((cast(:receiverLimits as jsonb) ->> receiver)::integer, :limitPerReceiver) as receiver_limit,
      coalesce((cast(:merchantLimits as jsonb) ->> merchant_code)::integer, :limitPerMerchant) as merchant_limit
    from senders
  ),
  due as materialized (
    select limited.*, waiting.* from limited cross join lateral (
      select transaction_id, ordering_key, due_at, leased_delivery from ${table} found
      where found.state = 'due' and found.kind = :kind
        and found.receiver = limited.receiver and found.merchant_code = limited.merchant_code
        and found.due_at <= :now and (found.lease_until is null or found.lease_until <= :now)
      order by found.due_at
      limit least(limited.receiver_limit, limited.merchant_limit)
      for update skip locked
    ) waiting
  ),
  of_merchants as (
    select *, row_number() over (partition by merchant_code order by due_at) as merchant_place from due
  ),
  at_receivers as (
    select *, row_number() over (partition by receiver order by due_at) as receiver_place
    from of_merchants where merchant_place <= merchant_limit
  ),
  chosen as (
    select transaction_id, ordering_key, leased_delivery from at_receivers where receiver_place <= receiver_limit
    order by due_at
    limit :limit
  )
  update ${table} as claimed set
    lease_until = :leaseUntil, leased_by = :holder,
    leased_delivery = coalesce(chosen.leased_delivery, claimed.delivery)
  from chosen
  where claimed.transaction_id = chosen.transaction_id and claimed.ordering_key = chosen.ordering_key
    and (claimed.lease_until is null or claimed.lease_until <= :now)
  returning claimed.transaction_id as "transactionId", claimed.ordering_key as "orderingKey", claimed.delivery, claimed.receiver,
    claimed.merchant_code as "merchantCode", claimed.attempts, chosen.leased_delivery as "interrupted"`;

const postponeSql = `
  update ${table} set
    leased_by = null, leased_delivery = null,
    lease_until = case when delivery = :delivery and attempts = :attempts then cast(:until as timestamptz) end
  where transaction_id = :transactionId and ordering_key = :orderingKey and leased_by = :holder`;
