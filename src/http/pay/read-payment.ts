/** Reads a payment for a page, which must never show less than what happened. */
import { type Head, loadHead } from '../../commands/execute.ts';
import { paymentDecider } from '../../commands/payment.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import { type Channel, type Payment, paymentStream, type RequestedPayment } from '../../events/payment.ts';
import { HttpProblem } from '../server/errors.ts';
import type { PayDependencies } from './dependencies.ts';

export type ReadPayment = (transactionId: string) => Promise<{
  payment: RequestedPayment;
  /** The stream, for a command on it; null where the row was enough. */
  head: Head<Payment> | null;
}>;

/**
 * A row that says succeeded is final and is taken as it is. Any other may be behind, and there may be no row or no
 * Postgres: then the stream is folded. A transaction of another channel is unknown here. The function returned
 * throws HttpProblem 404 and EventStoreUnavailable.
 */
export function createReadPayment(
  channel: Channel,
  { eventStore, findPayment, log }: Pick<PayDependencies, 'eventStore' | 'findPayment' | 'log'>,
): ReadPayment {
  async function findFinal(transactionId: string): Promise<RequestedPayment | null> {
    try {
      const row = await findPayment(transactionId);
      return row?.state.status === 'succeeded' ? row.state : null;
    } catch (error) {
      // Not the error itself: knex puts the query's values into it, and an id opens a receipt.
      log.warn(
        { reason: kindOf(error) },
        'payments cannot be read from Postgres; streams are folded instead',
      );
      return null;
    }
  }

  return async (transactionId) => {
    const isId = transactionIdPattern.test(transactionId);
    const final = isId ? await findFinal(transactionId) : null;
    const head =
      isId && !final ? await loadHead(eventStore, paymentStream(transactionId), paymentDecider) : null;
    const payment = final ?? head?.state;
    if (!payment || payment.status === 'none' || payment.request.channel !== channel)
      throw new HttpProblem(404, 'Transaction not found', { kind: 'paymentNotFound' });
    return { payment, head };
  };
}

/** Such as ECONNREFUSED, or Postgres's own code. */
function kindOf(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error ? error.code : error.name;
}
