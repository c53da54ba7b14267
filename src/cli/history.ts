/** `ledger history`: what happened to a payment, event by event, and whether anybody changed it since. */
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { firstBroken, type Metadata } from '../events/envelope.ts';
import { toIsoWithOffset } from '../events/malaysian-time.ts';
import { evolve, noPayment, type Payment, type PaymentEvent, paymentStream } from '../events/payment.ts';
import { readPaymentEvent, UnreadableEvent } from '../events/recorded.ts';
import type { RecordedEvent } from '../eventstore/event-store.ts';
import { type Command, UsageError } from './command.ts';
import { asStaff } from './staff.ts';

export const history: Command = {
  summary: 'the events of a payment, the status after each, and whether their chain is whole',
  usage: '<transaction_id>',
  options: {},
  takesArguments: true,
  run(_, [transactionId = '', ...more]) {
    if (!transactionIdPattern.test(transactionId) || more.length > 0)
      throw new UsageError('Name one transaction id');
    return asStaff(async (eventStore) => historyText(await eventStore.load(paymentStream(transactionId))));
  },
};

/**
 * A line per event, in Malaysian time, and a last one about the chain. The time is the one in the event, which the chain
 * covers, as it does the actor. No figure or name of anybody is shown.
 */
export function historyText(events: readonly RecordedEvent[]): string {
  if (events.length === 0) return 'There is no such payment.';
  const broken = firstBroken(events);
  let state: Payment = noPayment;
  const lines = events.map((event) => {
    const read = readOrNull(event);
    if (read) state = evolve(state, read);
    const { actor } = event.metadata as Metadata;
    const at = read ? toIsoWithOffset(read.data.at) : 'unreadable'.padEnd(25);
    return `${String(event.revision).padStart(4)}  ${at}  ${event.type.padEnd(26)}  ${state.status.padEnd(10)} ${actor}`;
  });
  const verdict =
    broken === null
      ? `The chain of ${events.length} events is whole.`
      : `The chain is broken at event ${events[broken]?.revision}: it, or the one before it, is not what was written.`;
  return [...lines, '', verdict].join('\n');
}

/** Null for an event that was changed so far that it cannot be read: the verdict on the chain must still come. */
function readOrNull(event: RecordedEvent): PaymentEvent | null {
  try {
    return readPaymentEvent(event);
  } catch (error) {
    if (error instanceof UnreadableEvent) return null;
    throw error;
  }
}
