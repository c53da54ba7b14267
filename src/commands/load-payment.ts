/** A payment as its own events have it, for those who may not trust a row that lags. */

import { readPaymentEvent } from '../events/codec.ts';
import { evolve, noPayment, type Payment, paymentStream } from '../events/payment.ts';
import type { EventStore } from '../eventstore/event-store.ts';

/** Folds the payment's stream; `none` when there is no stream. Throws EventStoreUnavailable. */
export async function loadPayment(
  eventStore: Pick<EventStore, 'load'>,
  transactionId: string,
): Promise<Payment> {
  const events = await eventStore.load(paymentStream(transactionId));
  return events.map(readPaymentEvent).reduce(evolve, noPayment);
}
