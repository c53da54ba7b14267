/**
 * How reactors claim the payments that the registry is to be asked about: any number of processes, all of them together
 * within one rate. Also where answers are counted until an event records how many they were.
 */
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../common/sql.ts';
import type { CountedAnswers } from '../events/requery.ts';
import { requeryList } from './requery-list.ts';

/** A row claimed by one reactor until its lease ends. */
export type ClaimedRequery = {
  transactionId: string;
  /** What the list knew of the payment, as text. */
  known: string;
  /** The last question that has only been counted. */
  countedAt: Date | null;
};

type Claim = { now: Date; leaseUntil: Date; holder: string; limit: number; perSecond: number };

const rows = `${requeryList.name}.requeries`;

export type RequeryQueue = ReturnType<typeof createRequeryQueue>;

export function createRequeryQueue(db: Knex) {
  return {
    /**
     * Claims at most `limit` payments, the longest due first, and only as many as all processes together may ask about in
     * this second. Nothing if the projection has never run.
     */
    async claim(claim: Claim): Promise<ClaimedRequery[]> {
      return await emptyIfUndefined(db.raw<{ rows: ClaimedRequery[] }>(claimSql, claim).timeout(5_000));
    },

    /** Gives a row back, to be looked at again at `wakeAt`; not if the list has come to more events since. */
    async release(claimed: ClaimedRequery, holder: string, wakeAt: Date | null): Promise<void> {
      await db.raw(releaseSql, { ...claimed, holder, wakeAt }).timeout(5_000);
    },
  };
}

const claimSql = sqlOf('claim-requeries');
const releaseSql = sqlOf('release-requery');

type CountedRow = { status: CountedAnswers['status'] | null; count: number; at: Date };

const addSql = sqlOf('count-answer');

/** The port of commands/record-answer.ts. While Postgres is down, nothing is counted, and nothing rejects. */
export function createAnswerCounts(db: Knex) {
  return {
    async read(transactionId: string): Promise<CountedAnswers | null | 'none'> {
      const query = db.raw<{ rows: CountedRow[] }>(
        `select counted_status as status, counted as count, counted_at as at from ${rows} where transaction_id = ?`,
        [transactionId],
      );
      const row = (await query.timeout(2_000).catch(() => null))?.rows[0];
      if (!row) return 'none';
      return row.status === null || row.count === 0
        ? null
        : { ...row, status: row.status, at: row.at.toISOString() };
    },

    async add(
      transactionId: string,
      { status, at }: Omit<CountedAnswers, 'count'>,
      since: string | null,
    ): Promise<boolean> {
      const added = db.raw(addSql, { transactionId, status, at, since }).timeout(2_000);
      return (await added.catch(() => ({ rowCount: 0 }))).rowCount > 0;
    },

    async clear(transactionId: string, upTo: string): Promise<void> {
      const cleared = db.raw(
        `update ${rows} set counted = 0, counted_status = null, counted_at = null
         where transaction_id = ? and counted_at <= ?`,
        [transactionId, upTo],
      );
      // If this fails, the time still tells what was recorded from what was not.
      await cleared.timeout(2_000).catch(() => undefined);
    },
  };
}
