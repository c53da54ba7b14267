/** Loads a payment with its history, which only its stream has: no row is needed. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { historyOf } from '../../audit/history/history.ts';
import { endOf } from '../../commands/execute.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { paymentStream, requestedIn } from '../../events/payment.ts';
import { type Context, HttpProblem } from './context.ts';

export type PaymentHistory = Awaited<ReturnType<typeof loadHistory>>;

/** The payment that the path names. Throws HttpProblem 404 and EventStoreUnavailable. */
export async function loadHistory(ctx: Context, eventStore: Pick<EventStore, 'load'>) {
  const id = ctx.params.id ?? '';
  const stored = transactionIdPattern.test(id) ? await eventStore.load(paymentStream(id)) : [];
  if (stored.length === 0) throw noSuchPayment();
  const history = historyOf(stored);
  const state = history.entries.at(-1)?.state;
  const isWhole = state && history.verdict.kind === 'whole';
  return {
    ...history,
    /** Null if the stream does not begin with a request or cannot be read. */
    payment: requestedIn(state),
    /** For a command; null if an event cannot be read, or was changed. */
    head: isWhole ? { state, ...endOf(stored) } : null,
  };
}

/** The same for what needs the request of the payment. Throws UnreadableEvent, too, if that cannot be read. */
export async function loadRequested(...asked: Parameters<typeof loadHistory>) {
  const { payment, ...history } = await loadHistory(...asked);
  if (!payment) throw new UnreadableEvent('The request of a payment cannot be read');
  return { ...history, payment };
}

export const noSuchPayment = () => new HttpProblem(404, 'There is no payment with this id');
