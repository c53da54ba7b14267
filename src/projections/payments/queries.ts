/** What is asked of the projection `payments`. */
import type { Knex } from 'knex';
import type { PaymentStatus, RequestedPayment } from '../../events/payment.ts';
import type { Sen } from '../../kernel/money.ts';
import { indexable } from '../../postgres/indexable.ts';
import { payments } from './projection.ts';

export type ProjectedPayment = {
  /** Of the last event in the state. */
  revision: number;
  state: RequestedPayment;
};

export type LatestPayment = {
  transactionId: string;
  merchantCode: string;
  reference: string;
  status: PaymentStatus;
  amountSen: Sen;
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

    /**
     * Ids of the payments with this receipt number, the latest first. Gateways give the numbers, so several payments
     * may have the same; a gateway that gives all of them the same is not searched to its end.
     */
    findByReceiptNo(receiptNo: string): Promise<string[]> {
      return db
        .withSchema(payments.name)
        .from('payments')
        .where('receipt_no', indexable(receiptNo))
        .orderBy('requested_at', 'desc')
        .limit(1_000)
        .pluck('transaction_id')
        .timeout(2_000);
    },

    /** The latest payments of the generic channel, newest first. */
    latestPayments(): Promise<LatestPayment[]> {
      return db
        .withSchema(payments.name)
        .from('payments')
        .where('channel', 'generic')
        .orderBy('requested_at', 'desc')
        .limit(20)
        .select(
          'transaction_id as transactionId',
          'merchant_code as merchantCode',
          'reference',
          'status',
          'amount_sen as amountSen',
        )
        .timeout(2_000);
    },
  };
}
