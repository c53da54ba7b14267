/** Queries on payouts and remittances. They reject within a few seconds when Postgres is down. */
import type { Knex } from 'knex';
import type { SettlementKind } from '../../events/settlement.ts';
import type { Sen } from '../../kernel/money.ts';
import { indexable } from '../../postgres/table.ts';
import { journal } from './projection.ts';

export type ListedSettlement = {
  id: string;
  kind: SettlementKind;
  reference: string;
  at: Date;
  totalSen: Sen;
  reversedAt: Date | null;
};

const settlements = (db: Knex) =>
  db.withSchema(journal.name).from('settlements').whereNotNull('at').timeout(5_000);
const lines = (db: Knex) => db.withSchema(journal.name).from('payout_lines').timeout(5_000);
const columns = { totalSen: 'total_sen', reversedAt: 'reversed_at' };

/** The latest first; with a transaction id, only the payouts that name the payment. */
export async function listSettlements(
  db: Knex,
  {
    limit,
    after,
    transactionId,
  }: { limit: number; after: Pick<ListedSettlement, 'at' | 'id'> | null; transactionId: string | null },
): Promise<ListedSettlement[]> {
  const query = settlements(db).orderByRaw('at desc, id desc').limit(limit);
  if (transactionId !== null)
    query.whereIn(
      'id',
      lines(db)
        .where({ transaction_id: indexable(transactionId) })
        .select('settlement_id'),
    );
  if (after) query.whereRaw('(at, id) < (?, ?)', [after.at, after.id]);
  return await query.select('id', 'kind', 'reference', 'at', columns);
}

/** The reference of another one of the same day with the same total that is not reversed; null if there is none. */
export async function findTwin(
  db: Knex,
  id: string,
  { kind, settledOn, totalSen }: { kind: SettlementKind; settledOn: string; totalSen: Sen },
): Promise<string | null> {
  const same = { kind, settled_on: settledOn, total_sen: totalSen, reversed_at: null };
  const twin = await settlements(db).where(same).whereNot({ id }).first('reference');
  return twin?.reference ?? null;
}

/** The charges that a payout names, in the order of its file. */
export async function payoutLines(db: Knex, id: string, { limit, after }: { limit: number; after: number }) {
  const query = lines(db).where({ settlement_id: id }).where('no', '>', after).orderBy('no').limit(limit);
  const found: { no: number; charge: string; transactionId: string; amountSen: Sen }[] = await query.select(
    'no',
    'charge',
    { transactionId: 'transaction_id', amountSen: 'amount_sen' },
  );
  return found;
}
