/** One pass over the log: revisions without gaps, whole chains, readable events, and what the seals say there was. */

import { UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn, isChainedOnto, previousHashIn } from '../../events/envelope.ts';
import { streamKinds, streamPrefixes } from '../../events/streams.ts';
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from '../../eventstore/event-store.ts';
import { createSealCheck, type SealCheck } from '../seals/check.ts';
import type { SealMark } from './seals.ts';
import type { Violations } from './violations.ts';

export type LogResult = {
  events: number;
  streams: number;
  seals: SealCheck;
  /** False when the log could be read only in part, so that nothing can be said of what is made from it. */
  complete: boolean;
};

/** A log that breaks off at the same place so often, within some seconds, cannot be read there. */
const maxFailures = 6;

/**
 * Reads the log to its end. Needs memory for every stream, some 250 bytes each, however many events there are. Throws
 * what the signal was aborted with.
 */
export async function verifyLog({
  eventStore,
  marks,
  violations,
  signal,
  onProgress,
}: {
  eventStore: Pick<EventStore, 'subscribe'>;
  marks: readonly SealMark[];
  violations: Violations;
  signal: AbortSignal;
  onProgress: (events: number) => void;
}): Promise<LogResult> {
  const heads = new Map<string, Head>();
  const seals = createSealCheck(marks, violations);
  let events = 0;
  let last: RecordedEvent | null = null;
  const result = (complete: boolean) => ({ events, streams: heads.size, seals, complete });
  try {
    for await (const message of eventStore.subscribe({ streamPrefixes, after: null, signal, maxFailures })) {
      if (message.kind === 'caught_up') {
        seals.end();
        return result(true);
      }
      if (message.kind !== 'event') continue;
      last = message.event;
      heads.set(last.streamName, checkPlace(last, heads.get(last.streamName) ?? noEvents, violations));
      checkReadable(last, violations);
      seals.take(last);
      events += 1;
      onProgress(events);
    }
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable) || signal.aborted) throw error;
    const place = last ? `after ${nameOf(last)}, at position ${last.position.commit}` : 'from its start';
    violations.add('the log', `${error.message}, ${place}. What comes after was not checked`);
    return result(false);
  }
  signal.throwIfAborted();
  throw new EventStoreUnavailable('The log ended before its end');
}

/** The last event of a stream so far. */
type Head = { revision: number; hash: string };

const noEvents: Head = { revision: -1, hash: genesisHash };

/** Whether the event comes next in its stream, in number and by its hash. */
function checkPlace(event: RecordedEvent, head: Head, violations: Violations): Head {
  const { revision, streamName } = event;
  const missing = revision - head.revision - 1;
  if (missing > 0) {
    const range = missing === 1 ? `${head.revision + 1} is` : `${head.revision + 1} to ${revision - 1} are`;
    violations.add(
      'missing events',
      `Of ${streamName} revision ${range} missing, before ${nameOf(event)}`,
      missing,
    );
  }
  if (missing < 0)
    violations.add('misplaced events', `${nameOf(event)} comes after revision ${head.revision}`);
  if (!isChainedOnto(event, previousHashIn(event)))
    violations.add('changed events', `${nameOf(event)} is not what was written: its hash does not fit it`);
  else if (missing === 0 && previousHashIn(event) !== head.hash)
    violations.add('broken chains', `${nameOf(event)} was not written after the event that is before it now`);
  return { revision, hash: hashIn(event) };
}

function checkReadable(event: RecordedEvent, violations: Violations): void {
  try {
    streamKinds.find(({ prefix }) => event.streamName.startsWith(prefix))?.read(event);
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    violations.add('unreadable events', `${nameOf(event)} cannot be read: ${error.message}`);
  }
}

/** An event as a report names it. */
function nameOf({ streamName, revision, type }: RecordedEvent): string {
  return `${streamName} revision ${revision} (${type})`;
}
