/** Everything that needs staff, in one list: payments' exceptions, shared numbers, the quarantine, discrepancies. */
import { type ListPage, readPage } from '@ledger/postgres/listing.ts';
import { type AmountRange, between, matching, type TimeSpan, within } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import lists from '../../../content/tables/lists.json' with { type: 'json' };
import type { Sen } from '../../common/money.ts';
import { sqlOf } from '../../common/sql.ts';
import { exceptionKinds } from '../../events/exceptions.ts';
import { sharedNumberKinds } from '../../events/shared-number.ts';
import type { Scope } from '../../events/user.ts';

/** Each kind comes from one source: a new source adds its kinds here and its rows to content/sql/listed-exceptions.sql. */
const kindsOfPayments = [...exceptionKinds, 'approval', 'outcomeUnknown'] as const;
export const listedKinds = [
  ...kindsOfPayments,
  ...sharedNumberKinds,
  'unmatched',
  'difference',
  'parked',
] as const;
type ListedKind = (typeof listedKinds)[number];

/** The kinds that an account with this scope may see. */
export const kindsFor = (scope: Scope): readonly ListedKind[] => (scope ? kindsOfPayments : listedKinds);

/** All of them, for a `from`. */
export const listedSql = `(${sqlOf('listed-exceptions')}) as listed`;

export type ListedException = {
  /**
   * `payment`, `attempt` or `approval`, with the transaction id and a number: `payment/<transaction id>/<number>`. Or
   * `unmatched/<id>`, `difference/<id>`, `shared/<id>`, `parked/<stream>`.
   */
  id: string;
  kind: ListedKind;
  /** Null where the merchant is not known. */
  merchantCode: string | null;
  /** Of the payment that it is about; null where there is none, or two. */
  reference: string | null;
  at: Date;
  /** What was reported; null where that is not known. */
  amountSen: Sen | null;
  resolution: string | null;
  resolvedAt: Date | null;
};

/** Null means all. */
export type ExceptionFilter = {
  state: 'open' | 'resolved' | null;
  kind: ListedKind | null;
  merchantCode: string | null;
  recorded: TimeSpan | null;
  amounts?: AmountRange;
  /** The SHA-256 of the export that shows a discrepancy. */
  file?: string | null;
};

/** The latest first. Rejects within a few seconds when Postgres is down. */
export const listExceptions = (db: Knex, filter: ExceptionFilter, page: ListPage) =>
  readPage<ListedException>(db, exceptionsOf(db, filter), lists.exceptions, page);

export function exceptionsOf(db: Knex, { amounts, recorded, state, ...texts }: ExceptionFilter) {
  const query = db.from(db.raw(listedSql));
  if (state === 'open') query.whereNull('resolved_at');
  if (state === 'resolved') query.whereNotNull('resolved_at');
  matching(query, { kind: texts.kind, merchant_code: texts.merchantCode, file: texts.file });
  between(query, 'amount_sen', amounts);
  within(query, 'at', recorded);
  return query;
}

/** How many of each kind are open, of all merchants or of some alone. Rejects when Postgres is down. */
export async function countOpenExceptions(db: Knex, scope: Scope): Promise<Record<ListedKind, number>> {
  const open = db.from(db.raw(listedSql)).whereNull('resolved_at').groupBy('kind').timeout(5_000);
  if (scope) open.whereIn('owner', scope);
  const counted: { kind: ListedKind; count: number }[] = await open.select('kind').count({ count: '*' });
  const counts = Object.fromEntries(listedKinds.map((kind) => [kind, 0])) as Record<ListedKind, number>;
  for (const { kind, count } of counted) counts[kind] = count;
  return counts;
}
