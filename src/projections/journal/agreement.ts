/** Whether the books of a day agree with themselves and with the payments. */
import type { Knex } from 'knex';
import { boundsOfDay } from '../../kernel/malaysian-time.ts';
import { payments } from '../payments/projection.ts';
import { journal } from './projection.ts';

const longestMs = 30_000;

/** The first Malaysian day after another one on which anything was posted; null if there is none. */
export async function dayAfter(db: Knex, day: string): Promise<string | null> {
  const { rows } = await db
    .raw<{ rows: { day: string | null }[] }>(
      `select min(day)::text as day from ${journal.name}.daily_sums where day > ?`,
      [day || '-infinity'],
    )
    .timeout(longestMs);
  return rows[0]?.day ?? null;
}

/**
 * The accounts whose sums of the day are not those of their postings, and the merchants whose payments of that value date
 * do not make what the books say they collected. Both are empty if all agree.
 */
export async function booksOfDay(db: Knex, day: string) {
  const bounds = boundsOfDay(day);
  if (!bounds) throw new RangeError('A day reads YYYY-MM-DD');
  const ask = async <Row>(sql: string) =>
    (await db.raw<{ rows: Row[] }>(sql, { day, ...bounds }).timeout(longestMs)).rows;
  return {
    accounts: (await ask<{ account: string }>(differingSums)).map(({ account }) => account),
    collected: await ask<{ code: string; paidSen: string; bookedSen: string }>(differingCollections),
  };
}

const accounts = `(select distinct account from ${journal.name}.daily_sums) accounts`;

// By account, as the indexes are.
const differingSums = `
  select distinct account
  from (select account, opened_on, debit_sen, credit_sen from ${journal.name}.daily_sums where day = :day) kept
  full join (
    select account, opened_on, sum(debit_sen) as debit, sum(credit_sen) as credit
    from ${accounts} join ${journal.name}.postings using (account)
    where at >= :start and at < :end group by 1, 2
  ) fresh using (account, opened_on)
  where (debit_sen, credit_sen) is distinct from (debit, credit)
  order by account`;

const differingCollections = `
  select code, coalesce(paid, 0)::text as "paidSen", coalesce(booked, 0)::text as "bookedSen"
  from (
    select merchant_code as code, sum(amount_sen) as paid from ${payments.name}.payments
    where paid_at >= :start and paid_at < :end group by 1
  ) theirs
  full join (
    select merchant_code as code, sum(credit_sen) as booked
    from ${accounts} join ${journal.name}.postings using (account)
    where kind = 'payment' and line = 2 and value_at >= :start and value_at < :end group by 1
  ) ours using (code)
  where paid is distinct from booked
  order by code`;
