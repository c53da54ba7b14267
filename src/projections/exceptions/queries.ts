/** All that waits for staff, in one list: payments' exceptions, what no payment took, and what exports say otherwise. */
import type { Knex } from 'knex';
import { exceptionKinds } from '../../events/exceptions.ts';
import type { Sen } from '../../kernel/money.ts';
import { indexable } from '../../postgres/indexable.ts';
import { type TimeSpan, within } from '../../postgres/time-span.ts';
import { payments } from '../payments/projection.ts';
import { reconciliation } from '../reconciliation/projection.ts';
import { unmatched } from '../unmatched/projection.ts';

/** A kind is of one source: a source that joins adds its kinds here and its rows below. */
export const listedKinds = [...exceptionKinds, 'unmatched', 'difference'] as const;
export type ListedKind = (typeof listedKinds)[number];

// Alike in columns. The id begins with the source and leads to the one exception.
const sources = [
  `select 'payment/' || transaction_id || '/' || result_no as id, kind, merchant_code, at, amount_sen,
     resolution, resolved_at
   from ${payments.name}.exceptions`,
  `select 'unmatched/' || revision, 'unmatched', null, at, null, resolution, resolved_at
   from ${unmatched.name}.unmatched`,
  `select 'difference/' || id, 'difference', nullif(merchant_code, ''), at, amount_sen, resolution, resolved_at
   from ${reconciliation.name}.discrepancies`,
];

export type ListedException = {
  /** `payment/<transaction id>/<result number>`, `unmatched/<revision>` or `difference/<id>`. */
  id: string;
  kind: ListedKind;
  /** Null where it is not known whose it is. */
  merchantCode: string | null;
  at: Date;
  /** What was reported; null where that is not known. */
  amountSen: Sen | null;
  resolution: string | null;
  resolvedAt: Date | null;
};

/** Null is all. */
export type ExceptionFilter = {
  state: 'open' | 'resolved' | null;
  kind: ListedKind | null;
  merchantCode: string | null;
  recorded: TimeSpan | null;
};

/** Where a page of the list ends; the next one begins after it. */
export type ExceptionKey = Pick<ListedException, 'at' | 'id'>;

const columns = {
  id: 'id',
  kind: 'kind',
  merchantCode: 'merchant_code',
  at: 'at',
  amountSen: 'amount_sen',
  resolution: 'resolution',
  resolvedAt: 'resolved_at',
};

const listed = `(${sources.join(' union all ')}) as listed`;

/** Every query rejects within a few seconds when Postgres is down. */
export function createExceptionQueries(db: Knex) {
  return {
    /** The latest first. */
    async list(
      { state, kind, merchantCode, recorded }: ExceptionFilter,
      { limit, after }: { limit: number; after: ExceptionKey | null },
    ): Promise<ListedException[]> {
      const query = db.from(db.raw(listed)).select(columns).limit(limit).timeout(5_000);
      if (state === 'open') query.whereNull('resolved_at');
      if (state === 'resolved') query.whereNotNull('resolved_at');
      if (kind !== null) query.where({ kind });
      if (merchantCode !== null) query.where('merchant_code', indexable(merchantCode));
      within(query, 'at', recorded);
      if (after) query.whereRaw('(at, id collate "C") < (?, ?)', [after.at, after.id]);
      return await query.orderByRaw('at desc, id collate "C" desc');
    },

    /** How many of each kind are open. */
    async countOpen(): Promise<Record<ListedKind, number>> {
      const counted: { kind: ListedKind; count: number }[] = await db
        .from(db.raw(listed))
        .whereNull('resolved_at')
        .groupBy('kind')
        .select('kind')
        .count({ count: '*' })
        .timeout(5_000);
      const counts = new Map(counted.map(({ kind, count }) => [kind, count]));
      const all = listedKinds.map((kind) => [kind, counts.get(kind) ?? 0]);
      return Object.fromEntries(all) as Record<ListedKind, number>;
    },
  };
}
