/**
 * Records that staff look at personal data. It reads the end of the session's stream and no more: the session of an
 * auditor's program may hold thousands of looks.
 */

import { readSessionEvent } from '../events/codec.ts';
import { type Cause, chain, hashIn } from '../events/envelope.ts';
import { type Session, sessionStream } from '../events/session.ts';
import { schemaVersion } from '../events/upcast.ts';
import { type EventStore, EventStoreUnavailable, WrongExpectedRevision } from '../eventstore/event-store.ts';
import { Refused } from './decider.ts';
import { sessionDecider, type ViewPersonalData } from './session.ts';

/** Looks of one session at the same time wait for each other; so many at once are no person's. */
const maxConflicts = 100;

/**
 * The function returned appends the look; nothing may be shown when it throws (Refused, EventStoreUnavailable).
 * `session` is as it was begun: only its end can have changed it, and that is its last event.
 */
export function createViewPersonalData({
  eventStore,
}: {
  eventStore: Pick<EventStore, 'append' | 'loadLast'>;
}) {
  return async (id: string, session: Session, command: ViewPersonalData, cause: Cause): Promise<void> => {
    const streamName = sessionStream(id);
    for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
      const last = await eventStore.loadLast(streamName);
      const isOver = last === null || readSessionEvent(last).type === 'SignedOut';
      const events = sessionDecider.decide(command, isOver ? { ...session, status: 'over' } : session);
      if (events instanceof Refused) throw events;
      const chained = chain(events, hashIn(last ?? undefined), cause, schemaVersion);
      for (const event of chained) readSessionEvent(event);
      try {
        await eventStore.append(streamName, chained, last?.revision ?? 'no_stream');
        return;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
      }
    }
    throw new EventStoreUnavailable(`Stream ${streamName} changed ${maxConflicts} times while a look waited`);
  };
}
