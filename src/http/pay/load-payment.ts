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

export type PaymentWithHead = { payment: OpenPayment; head: Head<Payment> };

/** `told` is the revision that the reader must see at least; null if only the newest will do. */
type ReadPayment = (transactionId: string, told?: number | null) => Promise<LoadedPayment>;

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
    const isId = transactionIdPattern.test(transactionId);
    const { state, outdated } = isId
      ? await readState(transactionId, told)
      : { state: noPayment, outdated: null };
    const payment = await openPayment(ofChannel(state, channel), personalData.open);
    return { payment, asAt: outdated?.updatedAt ?? null };
  };
}

type Reading = { readPayment: ReadPayment; toldOf(ctx: Context, transactionId: string): number | null };

/** Reads the payment of a path, to show it; `toldOf` is the revision that a request proves to know of. */
export async function loadPayment(ctx: Context<LoadedPayment>, { readPayment, toldOf }: Reading, next: Next) {
  const { id = '' } = ctx.params;
  Object.assign(ctx.state, await readPayment(id, toldOf(ctx, id)));
  await next();
}

type Folding = Pick<Dependencies, 'eventStore' | 'personalData'> & { channel: Channel };

/** Folds the payment of a path, for a decision. Throws HttpProblem 404 and EventStoreUnavailable. */
export async function loadPaymentWithHead(ctx: Context<PaymentWithHead>, dependencies: Folding, next: Next) {
  const { channel, eventStore, personalData } = dependencies;
  const { id = '' } = ctx.params;
  if (!transactionIdPattern.test(id)) throw notFound();
  ctx.state.head = await loadHead(eventStore, paymentStream(id), paymentDecider);
  ctx.state.payment = await openPayment(ofChannel(ctx.state.head.state, channel), personalData.open);
  await next();
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
