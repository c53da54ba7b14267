/** Whether the log is being sealed, as staff see it: from the last seal and the first event after it. */
import { sealsStream } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { positionSealed, Unaccountable } from './stored-seals.ts';

/** The sealer seals at least every ten minutes; when an event waits longer than this, sealing has stopped. */
export const sealedWithinMs = 30 * 60_000;

export type Unsealed =
  | { state: 'none' }
  /** `since`: when the oldest event that no seal covers was stored. */
  | { state: 'due' | 'overdue'; since: Date }
  /** The last seal is not what was signed, or its last event is not in the log: nothing is sealed any more. */
  | { state: 'unaccountable' };

/** Throws EventStoreUnavailable, also when the signal aborts before the store has answered. */
export async function unsealed(
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter'>,
  now: Date,
  signal: AbortSignal,
): Promise<Unsealed> {
  try {
    const last = await eventStore.loadLast(sealsStream);
    const after = last && (await positionSealed(last, eventStore));
    const oldest = await eventStore.firstAfter({ streamPrefixes, after, signal });
    if (!oldest) return { state: 'none' };
    const since = oldest.created;
    return { state: now.getTime() - since.getTime() > sealedWithinMs ? 'overdue' : 'due', since };
  } catch (error) {
    if (error instanceof Unaccountable) return { state: 'unaccountable' };
    throw error;
  }
}
