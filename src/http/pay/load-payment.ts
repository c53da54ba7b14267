/** Loads a payment for a page, which must never show less than what happened. */
import type { Next } from 'koa';
import { type Head, loadHead } from '../../commands/execute.ts';
import { paymentDecider } from '../../commands/payment.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import { type Channel, type Payment, paymentStream, type RequestedPayment } from '../../events/payment.ts';
import type { Context } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { PayDependencies } from './dependencies.ts';

export type LoadedPayment = {
  payment: RequestedPayment;
  /** The end of its stream, for a command on it; null if the row of the read model was enough. */
  head: Head<Payment> | null;
};

export type ReadPayment = (transactionId: string) => Promise<LoadedPayment>;

/**
 * A row that says succeeded is final. Any other row may be behind, and the row or Postgres may be missing; then the
 * stream is folded. A payment of another channel counts as unknown. The function returned throws HttpProblem 404 and
 * EventStoreUnavailable.
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
      // Not the error's message: knex puts the query's values into it, and an id opens a receipt.
      const reason = error instanceof Error ? (Reflect.get(error, 'code') ?? error.name) : typeof error;
      log.warn({ reason }, 'payments cannot be read from Postgres; streams are folded instead');
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

/** Koa middleware that loads the payment of a path into the state; `idOf` is its transaction id. */
export function createLoadPayment<State>(
  readPayment: ReadPayment,
  idOf: (ctx: Context<State>) => string = (ctx) => ctx.params.id ?? '',
) {
  return async (ctx: Context<State & LoadedPayment>, next: Next): Promise<void> => {
    Object.assign(ctx.state, await readPayment(idOf(ctx)));
    await next();
  };
}
