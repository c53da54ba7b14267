/**
 * The proof that the event that paid a payment is in the sealed log, for anybody who has a receipt. It leaves out the
 * event itself, which names the payment, and whose content is nobody else's business.
 */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { cosignersOf, openCheckpoint } from '@ledger/transparency-log/note.ts';
import { endOf } from '../../commands/execute.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { paymentStream } from '../../events/payment.ts';
import { leafOf } from '../../events/seals.ts';
import { checkpointOfSize, lastCheckpoint } from '../seals/find-seals.ts';
import { proveEvents } from '../seals/leaves.ts';
import { createLines } from './lines.ts';

/**
 * Null until the event is sealed. Throws UnreadableEvent for a stream that was changed, also if it has no success,
 * Unaccountable if the log does not agree with its seals, EventStoreUnavailable, and the signal's reason.
 */
export async function proveReceipt(
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'subscribe'>,
  transactionId: string,
  signal: AbortSignal,
) {
  const stored = await eventStore.load(paymentStream(transactionId));
  endOf(stored);
  const success = stored.find(
    ({ data, type }) => type === 'PaymentSucceeded' || Reflect.get(Object(data), 'effect') === 'paid',
  );
  if (!success) throw new UnreadableEvent('The payment of a receipt has no success');
  const [proof] = await proveEvents(eventStore, [success], signal);
  const checkpoint = proof ? openCheckpoint(proof.checkpoint, null) : '';
  const last = await lastCheckpoint(eventStore);
  if (!proof || typeof checkpoint === 'string' || !last) return null;
  const { origin, size } = checkpoint;
  const sealedAt = (await checkpointOfSize(eventStore, size, last))?.at ?? '';
  const lines = createLines();
  const range = { from: sealedAt, to: sealedAt, merchant: null, exportedAt: sealedAt };
  const file = [lines.head({ version: 2, ...range }), lines.leaf(leafOf(success), proof), lines.end()];
  return {
    /** The event's place in the log, counted from 1. */
    number: proof.index + 1,
    /** The name of the log, and how many events its checkpoint covers. */
    origin,
    size,
    sealedAt,
    /** The names that the other signatures of the checkpoint give. */
    witnesses: cosignersOf(proof.checkpoint),
    /** For `ledger verify --file`. */
    file: file.join(''),
  };
}
