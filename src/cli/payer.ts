/** The payments of one person, for commands that concern all of them. */
import type { OpenPayment } from '../events/open-payment.ts';
import { KeysUnavailable } from '../events/personal-data.ts';
import { findByPayer } from '../personal-data/find-by-payer.ts';
import { payments } from '../projections/payments/projection.ts';
import { projectionStatus } from '../projections/runtime/checkpoints.ts';
import { isReady } from '../projections/runtime/lag.ts';
import type { ContextWithDatabase } from './stores.ts';

const catchUpMs = 5_000;

/** Throws KeysUnavailable, also when the read model is behind, because payments would be left out. */
export async function findPayer(payer: string, context: ContextWithDatabase): Promise<OpenPayment[]> {
  const { db, runtime } = context;
  const sources = { ...context, projectionStatus: () => projectionStatus(db) };
  if (!(await isReady(payments, { until: runtime.now(), waitMs: catchUpMs }, sources)))
    throw new KeysUnavailable(
      'The read model of payments is behind the event store, and payments would be left out; try again when it has caught up',
    );
  return await findByPayer(payer, context);
}
