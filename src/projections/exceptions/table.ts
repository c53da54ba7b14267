/**
 * What payments' results leave for staff to settle, a row each. Written by the projection `payments` from the states
 * it folds; read through exceptions-queries.ts.
 */
import type { Knex } from 'knex';
import { exceptionsOf } from '../../events/exceptions.ts';
import type { Payment } from '../../events/payment.ts';
import { indexable } from '../../postgres/indexable.ts';

/** Names no schema: the search path leads to the right one. */
export async function createExceptionsTable(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    create table exceptions (
      transaction_id text not null,
      result_no integer not null,
      kind text not null,
      merchant_code text not null,
      at timestamptz not null,
      amount_sen bigint,
      resolution text,
      resolved_at timestamptz,
      primary key (transaction_id, result_no)
    )`);
}

export async function createExceptionsIndexes(db: Knex.Transaction): Promise<void> {
  await db.raw('create index if not exists exceptions_open on exceptions (at) where resolved_at is null');
}

/** Writes what changed in the exceptions of these payments. */
export async function writeExceptions(
  payments: readonly { transactionId: string; state: Payment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ transactionId, state }) =>
    state.status === 'none'
      ? []
      : exceptionsOf(state).map(({ resultNo, kind, at, amountSen, resolved }) => ({
          transaction_id: transactionId,
          result_no: resultNo,
          kind,
          merchant_code: indexable(state.request.merchant.code),
          at,
          amount_sen: amountSen,
          resolution: resolved?.resolution ?? null,
          resolved_at: resolved?.at ?? null,
        })),
  );
  if (rows.length > 0) await db.raw(upsert, [JSON.stringify(rows)]);
}

const upsert = `
  insert into exceptions
  select transaction_id, result_no, kind, merchant_code, at, amount_sen, resolution, resolved_at
  from json_to_recordset(?) as changed (
    transaction_id text, result_no integer, kind text, merchant_code text, at timestamptz, amount_sen bigint,
    resolution text, resolved_at timestamptz
  )
  on conflict (transaction_id, result_no) do update set
    resolution = excluded.resolution, resolved_at = excluded.resolved_at`;
