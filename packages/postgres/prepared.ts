/** Statements that are sent again and again: each connection parses and plans them once, which is most of their cost. */
import type { Knex } from 'knex';

/** By text; there are as many as the program has such statements. */
const names = new Map<string, string>();

/**
 * `db.raw` for a text that never varies. After some uses PostgreSQL keeps a plan that fits any parameters, made for the
 * table as it was at that moment: see `keepsPlans` of the pool.
 */
export function prepared<Result = unknown>(
  db: Knex,
  sql: string,
  bindings: Knex.RawBinding[] | Knex.ValueDict,
): Knex.Raw<Result> {
  const name = names.get(sql) ?? `ledger ${names.size}`;
  names.set(sql, name);
  return db.raw<Result>(sql, bindings as Knex.RawBinding[]).options({ name }) as Knex.Raw<Result>;
}
