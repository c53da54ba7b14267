/** Loads a payment: to show it, which its row may be enough for, or to decide about it, which takes its stream. */
import type { Next } from 'koa';
import { type Head, loadHead } from '../../commands/execute.ts';
import { paymentDecider } from '../../commands/payment.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import { type OpenPayment, openPayment } from '../../events/open-payment.ts';
import {
  type Channel,
  noPayment,
  type Payment,
  paymentStream,
  type RequestedPayment,
} from '../../events/payment.ts';
import { type Context, HttpProblem } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createReadState } from '../server/read-state.ts';

export type LoadedPayment = {
  payment: OpenPayment;
  /** Null if it holds all that happened; otherwise the time of its last event, because later ones cannot be read now. */
  asAt: Date | null;
};

/** A payment to decide about, with the head of its stream. */
export type PaymentWithHead = { payment: OpenPayment; head: Head<Payment> };

/** `told` is the revision that the reader must see at least; null if only the newest will do. */
export type ReadPayment = (transactionId: string, told?: number | null) => Promise<LoadedPayment>;

/** The function returned throws HttpProblem 404, EventStoreUnavailable and UnreadableEvent. */
export function createReadPayment(channel: Channel, dependencies: Dependencies): ReadPayment {
  const { findPayment, personalData } = dependencies;
  const readState = createReadState({
    streamOf: paymentStream,
    decider: paymentDecider,
    findRow: findPayment,
    // A payment never leaves success.
    isFinal: ({ status }) => status === 'succeeded',
    ...dependencies,
  });
  return async (transactionId, told) => {
    const { state, outdated } = transactionIdPattern.test(transactionId)
      ? await readState(transactionId, told)
      : { state: noPayment, outdated: null };
    const payment = await openPayment(ofChannel(state, channel), personalData.open);
    return { payment, asAt: outdated?.updatedAt ?? null };
  };
}

/**
 * Koa middleware that reads the payment of a path into the state; `toldOf` is the revision that a request proves to
 * know of.
 */
export function createLoadPayment(
  readPayment: ReadPayment,
  toldOf: (ctx: Context, transactionId: string) => number | null,
) {
  return async (ctx: Context<LoadedPayment>, next: Next): Promise<void> => {
    const { id = '' } = ctx.params;
    Object.assign(ctx.state, await readPayment(id, toldOf(ctx, id)));
    await next();
  };
}

/** Koa middleware that folds the payment of a path, for a decision. Throws HttpProblem 404 and EventStoreUnavailable. */
export function createLoadHead(channel: Channel, { eventStore, personalData }: Dependencies) {
  return async (ctx: Context<PaymentWithHead>, next: Next): Promise<void> => {
    const { id = '' } = ctx.params;
    if (!transactionIdPattern.test(id)) throw notFound();
    ctx.state.head = await loadHead(eventStore, paymentStream(id), paymentDecider);
    ctx.state.payment = await openPayment(ofChannel(ctx.state.head.state, channel), personalData.open);
    await next();
  };
}

/** A payment of another channel counts as unknown. */
function ofChannel(payment: Payment, channel: Channel): RequestedPayment {
  if (payment.status === 'none' || payment.request.channel !== channel) throw notFound();
  return payment;
}

const notFound = () => new HttpProblem(404, 'Transaction not found', { kind: 'paymentNotFound' });

/** What `ReadPayment` reads; undefined if there is no such payment. */
export async function unlessUnknown(reading: Promise<LoadedPayment>): Promise<OpenPayment | undefined> {
  try {
    return (await reading).payment;
  } catch (error) {
    if (error instanceof HttpProblem && error.answer.status === 404) return undefined;
    throw error;
  }
}
