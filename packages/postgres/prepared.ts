/** Statements that are sent again and again: each connection parses and plans them once, which is most of their cost. */
import { hash } from 'node:crypto';
import type { Knex } from 'knex';

/** The names by text. A name is derived from its text, so it is the same in every process. */
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
  const name = names.get(sql) ?? `ledger ${hash('sha256', sql).slice(0, 16)}`;
  names.set(sql, name);
  return db.raw<Result>(sql, bindings as Knex.RawBinding[]).options({ name }) as Knex.Raw<Result>;
}
