/** The attempts whose outcome nobody knows, one row each: a table of the projection `payments`. */
import type { Knex } from 'knex';
import type { RequestedPayment } from '../../events/payment.ts';
import { unknownOutcomesOf } from '../../events/unknown-outcomes.ts';
import { indexable, type Table, upsert } from '../../postgres/table.ts';

export const unknownOutcomesTable = {
  name: 'unknown_outcomes',
  columns: {
    transaction_id: 'text not null',
    no: 'integer not null',
    merchant_code: 'text not null',
    at: 'timestamptz not null',
    amount_sen: 'bigint not null',
    resolution: 'text',
    resolved_at: 'timestamptz',
  },
  primaryKey: ['transaction_id', 'no'],
} satisfies Table;

export const unknownOutcomesIndexes = [
  'unknown_outcomes_open on unknown_outcomes (at) where resolved_at is null',
];

export async function writeUnknownOutcomes(
  payments: readonly { id: string; state: RequestedPayment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ id, state }) =>
    unknownOutcomesOf(state).map(({ no, at, amountSen, settled }) => ({
      transaction_id: id,
      no,
      merchant_code: indexable(state.request.merchant.code),
      at,
      amount_sen: amountSen,
      resolution: settled?.outcome ?? null,
      resolved_at: settled?.at ?? null,
    })),
  );
  await upsert(db, unknownOutcomesTable, rows, ['resolution', 'resolved_at']);
}
