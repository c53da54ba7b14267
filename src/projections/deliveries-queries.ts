/** What reactors and staff ask of the to-do list, and how reactors take from it without getting in each other's way. */
import type { Knex } from 'knex';
import type { Delivery, DeliveryKind } from '../events/deliveries.ts';
import { payments } from './payments.ts';

/** A row that one reactor has to itself until its lease ends. */
export type ClaimedDelivery = {
  transactionId: string;
  lane: string;
  receiver: string;
  /** Tries of this lane that the row knows of. */
  tries: number;
  /** It was claimed before, by somebody who neither recorded a try nor gave it back. */
  isTakenOver: boolean;
};

export type Claim = {
  kind: DeliveryKind;
  now: Date;
  leaseUntil: Date;
  /** Who claims; names a running reactor, not a kind of them. */
  holder: string;
  /** At most this many in all. */
  limit: number;
  /** At most this many of one receiver, where `limits` says nothing else. */
  limitPerReceiver: number;
  limits: ReadonlyMap<string, number>;
};

export type DeliveryQueue = {
  /** Takes what is due, the longest due of each receiver first; nothing before the projection ever ran. */
  claim(claim: Claim): Promise<ClaimedDelivery[]>;
  /** Gives a row back, to be taken again from `until` on. */
  postpone(claimed: ClaimedDelivery, holder: string, until: Date): Promise<void>;
};

export type SettledDelivery = { transactionId: string; delivery: string };

const undefinedTable = '42P01';
const table = `${payments.name}.deliveries`;

export function createDeliveryQueue(db: Knex): DeliveryQueue {
  return {
    async claim({ kind, now, leaseUntil, holder, limit, limitPerReceiver, limits }) {
      try {
        const { rows } = await db
          .raw<{ rows: ClaimedDelivery[] }>(claimSql, {
            kind,
            now,
            leaseUntil,
            holder,
            limit,
            limitPerReceiver,
            limits: JSON.stringify(Object.fromEntries(limits)),
          })
          .timeout(5_000);
        return rows;
      } catch (error) {
        if (error instanceof Error && Reflect.get(error, 'code') === undefinedTable) return [];
        throw error;
      }
    },

    async postpone({ transactionId, lane }, holder, until) {
      await db(table)
        .where({ transaction_id: transactionId, lane, leased_by: holder })
        .update({ lease_until: until, leased_by: null })
        .timeout(5_000);
    },
  };
}

/** Deliveries of a state whose last try was due within a time, the oldest first; for one receiver or for all. */
export async function findDeliveries(
  db: Knex,
  {
    state,
    from,
    to,
    receiver,
  }: { state: Delivery['state']; from: Date; to: Date; receiver: string | undefined },
): Promise<SettledDelivery[]> {
  return await db(table)
    .select({ transactionId: 'transaction_id', delivery: 'delivery' })
    .where({ state, ...(receiver !== undefined && { receiver }) })
    .where('due_at', '>=', from)
    .where('due_at', '<', to)
    .orderBy('due_at');
}

// The receivers are found by leaps along the index: one with a long queue costs no more than one with a short.
const claimSql = `
  with recursive receivers as (
    (select receiver from ${table} where state = 'due' and kind = :kind order by receiver limit 1)
    union all
    select (
      select next.receiver from ${table} next
      where next.state = 'due' and next.kind = :kind and next.receiver > receivers.receiver
      order by next.receiver limit 1
    )
    from receivers where receivers.receiver is not null
  ),
  chosen as materialized (
    select due.transaction_id, due.lane, due.leased_by is not null as is_taken_over
    from receivers cross join lateral (
      select transaction_id, lane, due_at, leased_by from ${table} waiting
      where waiting.state = 'due' and waiting.kind = :kind and waiting.receiver = receivers.receiver
        and waiting.due_at <= :now and (waiting.lease_until is null or waiting.lease_until <= :now)
      order by waiting.due_at
      limit coalesce((cast(:limits as jsonb) ->> receivers.receiver)::integer, :limitPerReceiver)
      for update skip locked
    ) due
    order by due.due_at
    limit :limit
  )
  update ${table} as claimed set lease_until = :leaseUntil, leased_by = :holder
  from chosen
  where claimed.transaction_id = chosen.transaction_id and claimed.lane = chosen.lane
  returning claimed.transaction_id as "transactionId", claimed.lane, claimed.receiver, claimed.tries,
    chosen.is_taken_over as "isTakenOver"`;
