/** The discrepancies that imports found, one row each. */
import { readReconciliationEvent } from '../../events/codec.ts';
import {
  type Discrepancy,
  evolveDiscrepancy,
  reconciliationStreamPrefix,
} from '../../events/reconciliation.ts';
import { indexable } from '../../postgres/table.ts';
import type { Projection } from '../runtime/projection.ts';
import { streamProjection } from '../runtime/stream-projection.ts';

export const reconciliation: Projection = {
  ...streamProjection({
    name: 'reconciliation',
    version: 2,
    streamPrefix: reconciliationStreamPrefix,
    tableName: 'discrepancies',
    evolve: (state: Discrepancy | null, event) => evolveDiscrepancy(state, readReconciliationEvent(event)),
    columns: {
      kind: 'text not null',
      source: 'text not null',
      transaction_id: 'text not null',
      merchant_code: 'text not null',
      amount_sen: 'bigint',
      at: 'timestamptz not null',
      resolution: 'text',
      resolved_at: 'timestamptz',
    },
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
  }),
  indexes: [
    'discrepancies_open on discrepancies (at, id) where resolved_at is null',
    'discrepancies_by_payment on discrepancies (transaction_id)',
  ],
};
