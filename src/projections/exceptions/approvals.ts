/** What staff proposed, one row each: a table of the projection `payments`. */
import type { Knex } from 'knex';
import type { RequestedPayment } from '../../events/payment.ts';
import { indexable, type Table, upsert } from '../../postgres/table.ts';
import { unknownOutcomesTable } from './unknown-outcomes.ts';

export const approvalsTable = {
  ...unknownOutcomesTable,
  name: 'approvals',
  columns: { ...unknownOutcomesTable.columns, amount_sen: 'bigint' },
} satisfies Table;

export const approvalsIndexes = ['approvals_open on approvals (at) where resolved_at is null'];

export async function writeApprovals(
  payments: readonly { id: string; state: RequestedPayment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ id, state }) =>
    (state.approvals ?? []).map(({ no, at, amountSen, decided }) => ({
      transaction_id: id,
      no,
      merchant_code: indexable(state.request.merchant.code),
      at,
      amount_sen: amountSen,
      resolution: decided?.outcome ?? null,
      resolved_at: decided?.at ?? null,
    })),
  );
  await upsert(db, approvalsTable, rows, ['resolution', 'resolved_at']);
}
