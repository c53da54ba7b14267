/** Whether the log is being sealed, as staff see it: told by the last seal and what came after it, without reading the log. */
import { sealsStream } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { placeOf, sealedBy, Unaccountable } from './last-seal.ts';

/** The sealer seals every ten minutes at the latest: what waits longer than this says that it stands still. */
export const sealedWithinMs = 30 * 60_000;

export type Unsealed =
  | { state: 'none' }
  /** `since`: when the oldest event that no seal covers was stored. */
  | { state: 'due' | 'overdue'; since: Date }
  /** The last seal is not what was signed, or the event that it ends with is not there: nothing is sealed any more. */
  | { state: 'unaccountable' };

/** Throws EventStoreUnavailable, also when the signal aborts before the store has answered. */
export async function unsealed(
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter'>,
  now: Date,
  signal: AbortSignal,
): Promise<Unsealed> {
  try {
    const last = await eventStore.loadLast(sealsStream);
    const after = last && (await placeOf(sealedBy(last), eventStore));
    const oldest = await eventStore.firstAfter({ streamPrefixes, after, signal });
    if (!oldest) return { state: 'none' };
    const since = oldest.created;
    return { state: now.getTime() - since.getTime() > sealedWithinMs ? 'overdue' : 'due', since };
  } catch (error) {
    if (error instanceof Unaccountable) return { state: 'unaccountable' };
    throw error;
  }
}
