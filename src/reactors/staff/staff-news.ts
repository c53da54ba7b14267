/**
 * What waits for staff and is news to them. What they were told of is kept, so that it depends neither on the order in which
 * rows appear nor on when this runs; the email that tells of it is kept in the same transaction until everybody has it.
 */
import { unlessUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../../common/sql.ts';
import { listedSql } from '../../projections/exceptions/queries.ts';

/** How many of one kind are new, which may be none, and how many are open in all. */
export type News = {
  subject: 'exception' | 'delivery' | 'projection';
  /** The kind of exceptions or deliveries, or the name of a projection. */
  kind: string;
  added: number;
  waiting: number;
};

export type StaffEmail = { at: Date; news: readonly News[]; recipients: readonly string[] };

const tell = sqlOf('staff-news', { listed: listedSql });

const tables = sqlOf('staff-email-tables');

/** Makes the next email, unless the last one is newer than `pauseMs` or there is no news. */
export async function makeStaffEmail(
  db: Knex,
  { now, pauseMs, recipients }: { now: Date; pauseMs: number; recipients: readonly string[] },
): Promise<void> {
  await db.raw(tables);
  const last = await db('staff_email.email').max({ at: 'at' }).first<{ at: Date | null }>();
  const agoMs = last?.at ? now.getTime() - last.at.getTime() : pauseMs;
  // A time in the future comes from a wrong clock.
  if (agoMs >= 0 && agoMs < pauseMs) return;
  const made = db.transaction(async (trx) => {
    const { rows: news } = await trx.raw<{ rows: News[] }>(tell);
    if (!news.some(({ added }) => added > 0)) return;
    await trx.raw(
      `insert into staff_email.email values (1, ?, ?, ?) on conflict (id) do update
         set at = excluded.at, news = excluded.news, recipients = excluded.recipients`,
      [now, JSON.stringify(news), JSON.stringify(recipients)],
    );
  });
  // Until every projection has run once, there are tables missing.
  await unlessUndefined(made, undefined);
}

/** The last email, with those who do not have it yet. */
export async function unsentStaffEmail(db: Knex): Promise<StaffEmail | null> {
  const query = db.raw<{ rows: StaffEmail[] }>('select at, news, recipients from staff_email.email');
  return (await query.timeout(2_000)).rows.find(({ recipients }) => recipients.length > 0) ?? null;
}

/** Unless there is another email since: this process may have stood still. */
export async function noteRecipients(db: Knex, { at, recipients }: StaffEmail): Promise<void> {
  await db('staff_email.email').where({ at }).update('recipients', JSON.stringify(recipients));
}
