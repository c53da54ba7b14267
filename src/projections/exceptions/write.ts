/** What payments leave for staff, as the projection `payments` writes it into its table of exceptions. */
import { indexable, upsert } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/payments.json' with { type: 'json' };
import { exceptionsOf } from '../../events/exceptions.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import { unknownOutcomesOf } from '../../events/unknown-attempt-outcomes.ts';

/**
 * Results that staff have to settle, attempts whose outcome nobody knows, and proposals that a second one has to decide,
 * settled or not. The `source` and its number name the exception in paths.
 */
export const leftForStaff = (payment: RequestedPayment) => [
  ...exceptionsOf(payment).map(({ resultNo, resolved, ...each }) => ({
    ...each,
    source: 'payment',
    no: resultNo,
    resolution: resolved?.resolution,
    resolvedAt: resolved?.at,
  })),
  ...unknownOutcomesOf(payment).map(({ settled, ...each }) => ({
    ...each,
    source: 'attempt',
    kind: 'outcomeUnknown',
    resolution: settled?.outcome,
    resolvedAt: settled?.at,
  })),
  ...(payment.approvals ?? []).map(({ decided, ...each }) => ({
    ...each,
    source: 'approval',
    kind: 'approval',
    resolution: decided?.outcome,
    resolvedAt: decided?.at,
  })),
];

/** Writes the rows of payments. In rows that exist already, it updates only what may have changed. */
export async function writeExceptions(
  payments: readonly { id: string; state: RequestedPayment }[],
  db: Knex.Transaction,
): Promise<void> {
  const rows = payments.flatMap(({ id, state }) =>
    leftForStaff(state).map(({ source, no, kind, at, amountSen, resolution, resolvedAt }) => ({
      transaction_id: id,
      source,
      no,
      kind,
      merchant_code: indexable(state.request.merchant.code),
      at,
      amount_sen: amountSen,
      resolution: resolution ?? null,
      resolved_at: resolvedAt ?? null,
    })),
  );
  // What an attempt would have charged depends on what has been credited as a part since.
  await upsert(db, tables.exceptions, rows, ['resolution', 'resolved_at', 'amount_sen']);
}
