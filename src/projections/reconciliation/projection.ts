/** The discrepancies that imports found, one row each. */
import { indexable } from '@ledger/postgres/table.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { streamProjection } from '@ledger/projections/runtime/stream-projection.ts';
import tables from '../../../content/tables/reconciliation.json' with { type: 'json' };
import { isRinggit } from '../../common/money.ts';
import { reconciliationFold } from '../../events/reconciliation.ts';

export const reconciliation: Projection = streamProjection({
  name: 'reconciliation',
  version: 3,
  fold: reconciliationFold,
  table: tables.discrepancies,
  columnsOf({ state: { at, kind, merchantCode, ours, resolved, source, theirs, transactionId } }) {
    const { amountSen = null, currency = '' } = theirs ?? ours ?? {};
    return {
      kind,
      source,
      transaction_id: indexable(transactionId),
      merchant_code: indexable(merchantCode),
      amount_sen: isRinggit(currency) ? amountSen : null,
      at,
      resolution: resolved?.resolution ?? null,
      resolved_at: resolved?.at ?? null,
    };
  },
});
