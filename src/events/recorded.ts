/** The border between what the log holds and what the program trusts: lifts and checks an event as it is read. */
import { type Struct, validate } from 'superstruct';
import { type PaymentEvent, paymentEvents } from './payment.ts';
import { upcast } from './upcast.ts';

/** An event this program cannot read: corrupt, of an unknown type, or written by a newer version. */
export class UnreadableEvent extends Error {
  override name = 'UnreadableEvent';
}

/** A stored event as a payment event of the current schema. Throws UnreadableEvent; its message names no values. */
export function readPaymentEvent(stored: { type: string; data: unknown; metadata: unknown }): PaymentEvent {
  return read(paymentEvents, stored) as PaymentEvent;
}

function read(
  structs: Record<string, Struct<unknown, unknown>>,
  stored: { type: string; data: unknown; metadata: unknown },
) {
  const { type } = stored;
  const struct = Object.hasOwn(structs, type) ? structs[type] : undefined;
  if (!struct) throw new UnreadableEvent(`Unknown event type ${type}`);
  let lifted: unknown;
  try {
    lifted = upcast(type, schemaVersionOf(stored.metadata), stored.data);
  } catch (error) {
    throw new UnreadableEvent(error instanceof Error ? error.message : String(error));
  }
  const [failure, data] = validate(lifted, struct);
  if (failure)
    throw new UnreadableEvent(
      `Event ${type} does not fit its schema at ${failure.path.join('.') || 'its root'}`,
    );
  return { type, data };
}

function schemaVersionOf(metadata: unknown): number {
  return typeof metadata === 'object' && metadata !== null
    ? Number(Reflect.get(metadata, 'schemaVersion'))
    : Number.NaN;
}
