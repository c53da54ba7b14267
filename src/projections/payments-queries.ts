/** What is asked of the projection `payments`. */
import type { Knex } from 'knex';
import type { RequestedPayment } from '../events/payment.ts';
import { payments } from './payments.ts';

export type ProjectedPayment = {
  /** Of the last event in the state. */
  revision: number;
  state: RequestedPayment;
};

export function createPaymentQueries(db: Knex) {
  return {
    /**
     * The payment as far as it has been projected, or null when there is no row (yet). Rejects within a few
     * seconds when Postgres is down: the stream itself has the answer then.
     */
    async findPayment(transactionId: string): Promise<ProjectedPayment | null> {
      const row = await db
        .withSchema(payments.name)
        .from<ProjectedPayment & { transaction_id: string }>('payments')
        .where('transaction_id', transactionId)
        .first('revision', 'state')
        .timeout(2_000);
      return row ?? null;
    },
  };
}
