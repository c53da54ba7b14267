/** The border between what the log holds and what the program trusts: lifts and checks an event as it is read. */
import { type Struct, validate } from 'superstruct';
import { type PaymentEvent, paymentEvents } from './payment.ts';
import { upcast } from './upcast.ts';

/** An event this program cannot read: corrupt, of an unknown type, or written by a newer version. */
export class UnreadableEvent extends Error {
  override name = 'UnreadableEvent';
}

type Stored = { type: string; data: unknown; metadata: unknown };

/** A stored event as a payment event of the current schema. Throws UnreadableEvent; its message holds no values. */
export function readPaymentEvent({ type, data, metadata }: Stored): PaymentEvent {
  if (!isPaymentEventType(type)) throw new UnreadableEvent(`Unknown event type ${type}`);
  const lifted = lift(type, data, metadata);
  const [failure] = validate(lifted, paymentEvents[type] as Struct<unknown>);
  if (failure)
    throw new UnreadableEvent(`${type} does not fit its schema at ${failure.path.join('.') || 'its root'}`);
  return { type, data: lifted } as PaymentEvent;
}

function isPaymentEventType(type: string): type is PaymentEvent['type'] {
  return Object.hasOwn(paymentEvents, type);
}

function lift(type: string, data: unknown, metadata: unknown): unknown {
  const version = typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, 'schemaVersion');
  try {
    return upcast(type, Number(version), data);
  } catch (error) {
    throw new UnreadableEvent(error instanceof Error ? error.message : String(error));
  }
}
