/** How reactors claim rows of the list of deliveries, any number of them at a time. */
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { tolerableDifferenceMs } from '@ledger/postgres/shared-clock.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../common/sql.ts';
import type { DeliveryKind } from '../events/deliveries.ts';
import { settleDeliveries, toDoSchema } from './delivery-rows.ts';
import { foldStream, type PlacedEvent } from './known-deliveries.ts';

/** A row claimed by one reactor until its lease ends. */
export type ClaimedDelivery = {
  holder: string;
  transactionId: string;
  orderingKey: string;
  /** The key of the newest delivery with this ordering key, as far as the row has been projected. */
  delivery: string;
  receiver: string;
  merchantCode: string;
  /** Attempts with this ordering key, as far as the row has been projected. */
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
  /** By receiver; and by `<merchant code> <receiver>`, for what one merchant may have at the receiver. */
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
     * Claims what is due: first for the merchants with the least under way, and of each merchant what has been due
     * longest. Nothing if the projection has never run.
     */
    async claim(claim: Claim): Promise<ClaimedDelivery[]> {
      const query = prepared<{ rows: ClaimedDelivery[] }>(db, claimSql, {
        ...claim,
        soon: new Date(claim.now.getTime() + tolerableDifferenceMs),
        receiverLimits: jsonOf(claim.receiverLimits),
        merchantLimits: jsonOf(claim.merchantLimits),
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

    /** Gives a row back: it can be claimed again from `until` on, or immediately if it has changed. */
    async postpone(claimed: ClaimedDelivery, until: Date): Promise<void> {
      await prepared(db, postponeSql, { ...claimed, until }).timeout(5_000);
    },
  };
}

const jsonOf = (limits: ReadonlyMap<string, number>) => JSON.stringify(Object.fromEntries(limits));

type HeldRow = Pick<ClaimedDelivery, 'transactionId' | 'orderingKey' | 'holder'>;
const keyOf = ({ transactionId, orderingKey, holder }: HeldRow) =>
  JSON.stringify([transactionId, orderingKey, holder]);

const claimSql = sqlOf('claim-deliveries');
const postponeSql = sqlOf('postpone-delivery');
