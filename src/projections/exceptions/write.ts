/**
 * What payments leave for staff, one row each: results that they have to settle, attempts whose outcome nobody knows,
 * and proposals that a second one has to decide. The tables are those of the projection `payments`.
 */
import { indexable, upsert } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/payments.json' with { type: 'json' };
import type { Sen } from '../../common/money.ts';
import { exceptionsOf } from '../../events/exceptions.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import { unknownOutcomesOf } from '../../events/unknown-attempt-outcomes.ts';

type Changed = { id: string; state: RequestedPayment };

/** Writes the rows of payments. In rows that exist already, it updates only what may have changed. */
export async function writeExceptions(payments: readonly Changed[], db: Knex.Transaction): Promise<void> {
  const results = payments.flatMap((payment) =>
    exceptionsOf(payment.state).map(({ resultNo, kind, resolved, ...waiting }) => ({
      ...rowOf(payment, waiting, resolved, resolved?.resolution),
      result_no: resultNo,
      kind,
    })),
  );
  const outcomes = payments.flatMap((payment) =>
    unknownOutcomesOf(payment.state).map(({ no, settled, ...waiting }) => ({
      ...rowOf(payment, waiting, settled, settled?.outcome),
      no,
    })),
  );
  const proposals = payments.flatMap((payment) =>
    (payment.state.approvals ?? []).map(({ no, decided, ...waiting }) => ({
      ...rowOf(payment, waiting, decided, decided?.outcome),
      no,
    })),
  );
  const settlement = ['resolution', 'resolved_at'] as const;
  await upsert(db, tables.exceptions, results, settlement);
  // What an attempt would have charged depends on what has been credited as a part since.
  await upsert(db, tables.unknownOutcomes, outcomes, [...settlement, 'amount_sen']);
  await upsert(db, tables.approvals, proposals, settlement);
}

function rowOf(
  { id, state }: Changed,
  { at, amountSen }: { at: string; amountSen: Sen | null },
  settled: { at: string } | null,
  resolution: string | undefined,
) {
  return {
    transaction_id: id,
    merchant_code: indexable(state.request.merchant.code),
    at,
    amount_sen: amountSen,
    resolution: resolution ?? null,
    resolved_at: settled?.at ?? null,
  };
}
