/** What is still open in the clearing accounts, by the age of the money. */
import type { Knex } from 'knex';
import { sqlOf } from '../../common/sql.ts';
import { upTo } from './queries.ts';

/** In whole Malaysian days up to the day of the as-of time, which is day 0. */
export const ages = ['0–1', '2–3', '4–7', '8–30', 'over 30'] as const;

/**
 * The clearing accounts that are not zero (`gateway:<method>`, `merchant:<code>` or a suspense account), by name. The
 * figures of each, in sen, are positive for what is owed to us (gateway) or by us (others): the amount of each age, what was
 * settled without a day beyond all that was open, and their sum. Settlements whose days are not known reduce the oldest
 * first. Rejects when Postgres is down.
 */
export async function ageing(db: Knex, asOf: Date) {
  type Row = { account: string; age: number; sen: string };
  const { rows } = await db.raw<{ rows: Row[] }>(openByAge, upTo(asOf));
  const accounts = new Map<string, bigint[]>();
  for (const { account, age, sen } of rows) {
    const byAge = accounts.get(account) ?? [...ages, undated].map(() => 0n);
    byAge[age] = BigInt(sen);
    accounts.set(account, byAge);
  }
  return Array.from(accounts, ([account, byAge]) => ({ account, figures: settleOldestFirst(byAge) })).filter(
    ({ figures }) => figures.some((sen) => sen !== 0n),
  );
}

function settleOldestFirst(byAge: readonly bigint[]): bigint[] {
  let left = byAge[undated] ?? 0n;
  const settled = byAge
    .slice(0, undated)
    .toReversed()
    .map((sen) => {
      if (left >= 0n || sen <= 0n) return sen;
      const taken = -left < sen ? -left : sen;
      left += taken;
      return sen - taken;
    });
  return [...settled.toReversed(), left, byAge.reduce((sum, sen) => sum + sen, 0n)];
}

/** The index, after the ages, of what has no day. */
const undated = ages.length;

const openByAge = sqlOf('open-by-age', { undated });
