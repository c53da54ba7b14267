/** How reactors claim rows of the to-do list, any number of them at a time. */
import type { Knex } from 'knex';
import type { DeliveryKind } from '../events/deliveries.ts';
import { emptyIfUndefined } from '../postgres/error-codes.ts';
import { prepared } from '../postgres/prepared.ts';
import { foldStream, type PlacedEvent } from './projection.ts';
import { settleDeliveries, toDoSchema } from './table.ts';

/** A row claimed by one reactor until its lease ends. */
export type ClaimedDelivery = {
  holder: string;
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
  /** Names this claim alone: one that ends late must not end the same reactor's next claim of the row. */
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
    /**
     * Claims what is due: of each merchant what has been due longest, and first for those with the least under way.
     * Nothing if the projection has never run.
     */
    async claim({ receiverLimits, merchantLimits, ...claim }: Claim): Promise<ClaimedDelivery[]> {
      const query = prepared<{ rows: ClaimedDelivery[] }>(db, claimSql, {
        ...claim,
        receiverLimits: JSON.stringify(Object.fromEntries(receiverLimits)),
        merchantLimits: JSON.stringify(Object.fromEntries(merchantLimits)),
      });
      return await emptyIfUndefined(query.timeout(5_000));
    },

    /** Which of these rows are still held: the list has not come to what was recorded of them. */
    async stillHeld(rows: readonly ClaimedDelivery[]): Promise<ClaimedDelivery[]> {
      const ids = rows.map(({ transactionId }) => transactionId);
      const query = prepared<{ rows: HeldRow[] }>(
        db,
        `select transaction_id as "transactionId", ordering_key as "orderingKey", leased_by as "holder" from ${table}
         where transaction_id = any(?) and leased_by is not null`,
        [ids],
      );
      const held = (await query.timeout(5_000)).rows.map(keyOf);
      return rows.filter((row) => held.includes(keyOf(row)));
    },

    /** Moves a row that is still held to where its whole stream leaves it, as the list will once it comes to the last event. */
    async settle(claimed: ClaimedDelivery, stream: readonly PlacedEvent[]): Promise<void> {
      await settleDeliveries(foldStream(claimed.transactionId, stream), claimed, db);
    },

    /** Gives a row back: it can be claimed again from `until` on, or at once when it has changed. */
    async postpone(claimed: ClaimedDelivery, until: Date): Promise<void> {
      await prepared(db, postponeSql, { ...claimed, until }).timeout(5_000);
    },
  };
}

type HeldRow = Pick<ClaimedDelivery, 'transactionId' | 'orderingKey' | 'holder'>;
const keyOf = ({ transactionId, orderingKey, holder }: HeldRow) =>
  JSON.stringify([transactionId, orderingKey, holder]);

/** Of one merchant, a claim looks at so many receivers, and at its rows that have been due longest, so many times its limit. */
const receiversOfMerchant = 256;
const longestDue = 4;

const isWaiting = `state = 'due' and kind = :kind`;
const isDue = `${isWaiting} and due_at <= :now and (lease_until is null or lease_until <= :now)`;
const row = 'transaction_id, ordering_key, receiver, merchant_code, due_at';

// Merchants, and receivers of each, are found by skipping along an index, so that a long queue costs no more than a short
// one. A merchant with more receivers than a claim looks at gets what has been due longest. The limit of a merchant
// applies before that of a receiver, so that a merchant at its limit uses up none of a receiver's places that others
// need. What a merchant has under way lowers its limit, so the lowest `turn` is of those with the least under way: nobody
// waits for the end of another merchant's queue. Only what is chosen is locked, so the lease is checked again: another
// claim may have been first. The receiver is asked for as a range, because the planner would otherwise take the index
// without it while it has no statistics.
const claimSql = `
  with recursive merchants as (
    (select merchant_code from ${table} where ${isWaiting} order by merchant_code limit 1)
    union all
    select next.merchant_code from merchants cross join lateral (
      select merchant_code from ${table} where ${isWaiting} and merchant_code > merchants.merchant_code
      order by merchant_code limit 1
    ) next
  ),
  allowed as materialized (
    select merchant_code,
      coalesce((cast(:merchantLimits as jsonb) ->> merchant_code)::integer, :limitPerMerchant) as merchant_limit
    from merchants
  ),
  senders as (
    select merchant_code, merchant_limit, first.receiver, 1 as number from allowed cross join lateral (
      select receiver from ${table} found where ${isWaiting} and found.merchant_code = allowed.merchant_code
      order by receiver limit 1
    ) first where merchant_limit > 0
    union all
    select senders.merchant_code, merchant_limit, next.receiver, number + 1 from senders cross join lateral (
      select receiver from ${table} found
      where ${isWaiting} and found.merchant_code = senders.merchant_code and receiver > senders.receiver
      order by receiver limit 1
    ) next where number < ${receiversOfMerchant}
  ),
  due as materialized (
    select waiting.*, merchant_limit from senders cross join lateral (
      select ${row} from ${table} found
      where ${isDue} and found.merchant_code = senders.merchant_code
        and receiver between senders.receiver and senders.receiver
      order by receiver, due_at limit least(merchant_limit, ${receiverLimit('senders.receiver')})
    ) waiting
    union
    select waiting.*, merchant_limit from allowed cross join lateral (
      select ${row} from ${table} found where ${isDue} and found.merchant_code = allowed.merchant_code
      order by due_at limit ${longestDue} * merchant_limit
    ) waiting
  ),
  of_both as (
    select *, ${receiverLimit('receiver')} as receiver_limit,
      row_number() over (partition by merchant_code, receiver order by due_at) as place from due
  ),
  of_merchants as (
    select *, row_number() over (partition by merchant_code order by due_at) as merchant_place
    from of_both where place <= receiver_limit
  ),
  at_receivers as (
    select *, merchant_place - merchant_limit as turn,
      row_number() over (partition by receiver order by merchant_place - merchant_limit, due_at) as receiver_place
    from of_merchants where merchant_place <= merchant_limit
  ),
  first as materialized (
    select transaction_id, ordering_key from at_receivers where receiver_place <= receiver_limit
    order by turn, due_at
    limit :limit
  ),
  chosen as materialized (
    select transaction_id, ordering_key, leased_delivery from ${table} join first using (transaction_id, ordering_key)
    for update of deliveries skip locked
  )
  update ${table} as claimed set
    lease_until = :leaseUntil, leased_by = :holder,
    leased_delivery = coalesce(chosen.leased_delivery, claimed.delivery)
  from chosen
  where claimed.transaction_id = chosen.transaction_id and claimed.ordering_key = chosen.ordering_key
    and (claimed.lease_until is null or claimed.lease_until <= :now)
  returning claimed.leased_by as "holder", claimed.transaction_id as "transactionId", claimed.ordering_key as "orderingKey", claimed.delivery, claimed.receiver,
    claimed.merchant_code as "merchantCode", claimed.attempts, chosen.leased_delivery as "interrupted"`;

function receiverLimit(receiver: string): string {
  return `coalesce((cast(:receiverLimits as jsonb) ->> ${receiver})::integer, :limitPerReceiver)`;
}

const postponeSql = `
  update ${table} set
    leased_by = null, leased_delivery = null,
    lease_until = case when delivery = :delivery and attempts = :attempts then cast(:until as timestamptz) end
  where transaction_id = :transactionId and ordering_key = :orderingKey and leased_by = :holder`;
