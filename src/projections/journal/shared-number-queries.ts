/** Queries on the numbers that two payments share. They reject within a few seconds when Postgres is down. */
import type { Knex } from 'knex';
import type { Sen } from '../../common/money.ts';
import type { SharedNumberKind } from '../../events/shared-number.ts';
import { journal } from './projection.ts';

/** A number that a payment has although another payment had it before. */
type SharedNumber = {
  kind: SharedNumberKind;
  number: string;
  /** The merchant of the later payment. */
  merchantCode: string;
  transactionId: string;
  firstTransactionId: string;
  at: Date;
  /** The amount that was reported with the number; null if there was none. */
  amountSen: Sen | null;
};

const columns = {
  merchantCode: 'merchant_code',
  transactionId: 'transaction_id',
  firstTransactionId: 'first_transaction_id',
  amountSen: 'amount_sen',
};

const sharedNumbers = (db: Knex) => db(`${journal.name}.shared_numbers`).timeout(5_000);

/** Null if there is none with this id. */
export async function findSharedNumber(db: Knex, id: string): Promise<SharedNumber | null> {
  return (await sharedNumbers(db).where({ id }).first('kind', 'number', 'at', columns)) ?? null;
}

/** How many shared numbers staff have not explained, and the first of them. */
export async function openSharedNumbers(db: Knex): Promise<{ count: number; first: SharedNumber | null }> {
  const open = sharedNumbers(db).whereNull('resolved_at');
  const first = await open.clone().orderBy(['at', 'id']).first('kind', 'number', 'at', columns);
  const [counted] = await open.count({ count: '*' });
  return { count: Number(counted?.count ?? 0), first: first ?? null };
}
