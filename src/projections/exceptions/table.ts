/** The results of payments that staff have to settle, one row each: a table of the projection `payments`. */
import type { Knex } from 'knex';
import { exceptionsOf } from '../../events/exceptions.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import { indexable, type Table, upsert } from '../../postgres/table.ts';

export const exceptionsTable = {
  name: 'exceptions',
  columns: {
    transaction_id: 'text not null',
    result_no: 'integer not null',
    kind: 'text not null',
    merchant_code: 'text not null',
    at: 'timestamptz not null',
    amount_sen: 'bigint',
    resolution: 'text',
    resolved_at: 'timestamptz',
  },
  primaryKey: ['transaction_id', 'result_no'],
} satisfies Table;

export const exceptionsIndexes = ['exceptions_open on exceptions (at) where resolved_at is null'];

export async function writeExceptions(
  payments: readonly { id: string; state: RequestedPayment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ id, state }) =>
    exceptionsOf(state).map(({ resultNo, kind, at, amountSen, resolved }) => ({
      transaction_id: id,
      result_no: resultNo,
      kind,
      merchant_code: indexable(state.request.merchant.code),
      at,
      amount_sen: amountSen,
      resolution: resolved?.resolution ?? null,
      resolved_at: resolved?.at ?? null,
    })),
  );
  await upsert(db, exceptionsTable, rows, ['resolution', 'resolved_at']);
}
