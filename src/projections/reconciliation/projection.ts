/** The discrepancies that imports found, one row each. */
import { indexable } from '@ledger/postgres/table.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { streamProjection } from '@ledger/projections/runtime/stream-projection.ts';
import tables from '../../../content/tables/reconciliation.json' with { type: 'json' };
import { reconciliationFold } from '../../events/reconciliation.ts';

export const reconciliation: Projection = streamProjection({
  name: 'reconciliation',
  version: 2,
  fold: reconciliationFold,
  table: tables.discrepancies,
  columnsOf: ({ state: { at, kind, merchantCode, ours, resolved, source, theirs, transactionId } }) => ({
    kind,
    source,
    transaction_id: indexable(transactionId),
    merchant_code: indexable(merchantCode),
    amount_sen: (theirs ?? ours)?.amountSen ?? null,
    at,
    resolution: resolved?.resolution ?? null,
    resolved_at: resolved?.at ?? null,
  }),
});
