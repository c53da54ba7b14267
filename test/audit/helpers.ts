// Streams as the store returns them, chained as `execute` chains them.
import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { chain, genesisHash, hashIn } from '../../src/events/envelope.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentStream,
} from '../../src/events/payment.ts';

/** A command of its own for every event, by the actor that `actorOf` says. */
export function stored(
  events: readonly PaymentEvent[],
  transactionId = 'X',
  actorOf = (_: PaymentEvent) => 'gateway',
): RecordedEvent[] {
  const recorded: RecordedEvent[] = [];
  for (const event of events) {
    const commandId = randomUUID();
    const cause = { commandId, correlationId: commandId, causationId: commandId, actor: actorOf(event) };
    const previous = recorded.at(-1);
    const [chained] = chain([event], previous ? hashIn(previous) : genesisHash, cause);
    if (!chained) throw new Error('An event was not chained');
    const revision = recorded.length;
    recorded.push({
      ...chained,
      streamName: paymentStream(transactionId),
      revision,
      position: { commit: BigInt(revision), prepare: BigInt(revision) },
      created: new Date('2026-11-20T01:00:00.000Z'),
    });
  }
  // As it comes out of the store: through JSON, where what is undefined is gone.
  return recorded.map((event) => ({ ...event, data: JSON.parse(JSON.stringify(event.data)) }));
}

export function foldOf(events: readonly PaymentEvent[]): Payment {
  return events.reduce(evolve, noPayment);
}
