/**
 * How reactors claim the payments that the registry is to be asked about: any number of processes, all of them together
 * within one rate. Also where answers are counted until an event records how many they were.
 */
import type { Knex } from 'knex';
import type { CountedAnswers } from '../events/requery.ts';
import { emptyIfUndefined } from '../postgres/error-codes.ts';
import { requeryList } from './requeries.ts';

/** A row claimed by one reactor until its lease ends. */
export type ClaimedRequery = {
  transactionId: string;
  /** As the row has it: null if only the count of answers is left to record. */
  dueAt: Date | null;
  /** The last question that has only been counted. */
  countedAt: Date | null;
};

type Claim = { now: Date; leaseUntil: Date; holder: string; limit: number; perSecond: number };

const rows = `${requeryList.name}.requeries`;
const pace = `${requeryList.name}.pace`;

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

    /** Gives a row back, to be looked at again at `wakeAt`; not if the log has meanwhile given it another time. */
    async release(claimed: ClaimedRequery, holder: string, wakeAt: Date | null): Promise<void> {
      await db.raw(releaseSql, { ...claimed, holder, wakeAt }).timeout(5_000);
    },
  };
}

// The row of the pace is locked first, so that processes claim one after the other. `base` is when the next question
// may be asked: up to a second ahead of `now`.
const claimSql = `
  with room as materialized (
    select greatest(next_at, :now) as base from ${pace} for update
  ),
  chosen as materialized (
    select transaction_id from ${rows}
    where wake_at <= :now and (lease_until is null or lease_until <= :now)
    order by wake_at
    limit (
      select least(:limit, greatest(0, floor(
        extract(epoch from cast(:now as timestamptz) + interval '1 second' - base) * :perSecond
      )))::integer from room
    )
    for update skip locked
  ),
  paced as (
    update ${pace} set next_at = base + (select count(*) from chosen) * interval '1 second' / :perSecond
    from room where exists (select from chosen)
  )
  update ${rows} as claimed set lease_until = :leaseUntil, leased_by = :holder
  from chosen where claimed.transaction_id = chosen.transaction_id
  returning claimed.transaction_id as "transactionId", claimed.due_at as "dueAt",
    case when claimed.counted > 0 then claimed.counted_at end as "countedAt"`;

const releaseSql = `
  update ${rows} set
    lease_until = null, leased_by = null,
    wake_at = case
      when due_at is not distinct from cast(:dueAt as timestamptz) then cast(:wakeAt as timestamptz)
      else wake_at
    end
  where transaction_id = :transactionId and leased_by = :holder`;

type CountedRow = { status: CountedAnswers['status'] | null; count: number; at: Date };

/** How long an answer that a merchant or staff asked for is only counted, where no question is due by itself. */
const recordedWithin = '1 hour';

/** The port of commands/record-requery.ts. While Postgres is down, nothing is counted, and nothing rejects. */
export function createAnswerCounts(db: Knex) {
  return {
    async read(transactionId: string): Promise<CountedAnswers | null | 'none'> {
      try {
        const query = db.raw<{ rows: CountedRow[] }>(
          `select counted_status as status, counted as count, counted_at as at from ${rows} where transaction_id = ?`,
          [transactionId],
        );
        const [row] = (await query.timeout(2_000)).rows;
        if (!row) return 'none';
        return row.status === null || row.count === 0
          ? null
          : { ...row, status: row.status, at: row.at.toISOString() };
      } catch {
        return 'none';
      }
    },

    async add(
      transactionId: string,
      { status, at }: Omit<CountedAnswers, 'count'>,
      since: string | null,
    ): Promise<boolean> {
      try {
        const { rowCount } = await db.raw(addSql, { transactionId, status, at, since }).timeout(2_000);
        return rowCount > 0;
      } catch {
        return false;
      }
    },

    async clear(transactionId: string, upTo: string): Promise<void> {
      const cleared = db.raw(
        `update ${rows} set counted = 0, counted_status = null, counted_at = null
         where transaction_id = ? and counted_at <= ?`,
        [transactionId, upTo],
      );
      // What was recorded is told from what was not by its time, too.
      await cleared.timeout(2_000).catch(() => undefined);
    },
  };
}

const addSql = `
  update ${rows} set
    counted = case when counted_status = :status and counted_at > coalesce(cast(:since as timestamptz), 'epoch') then counted else 0 end + 1,
    counted_status = :status,
    counted_at = greatest(counted_at, cast(:at as timestamptz)),
    wake_at = coalesce(wake_at, cast(:at as timestamptz) + interval '${recordedWithin}')
  where transaction_id = :transactionId`;
