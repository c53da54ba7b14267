/** One pass over the log: streams without gaps, intact chains, readable events, and agreement with the seals. */
import {
  type EventStore,
  EventStoreUnavailable,
  type Position,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import type { Checkpoint } from '@ledger/transparency-log/note.ts';
import type { Range } from '@ledger/transparency-log/tree.ts';
import { acknowledgementsStream, type EventFault } from '../../events/acknowledgements.ts';
import { tryRead, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn, isChainedOnto, previousHashIn } from '../../events/envelope.ts';
import { sealsStream } from '../../events/seals.ts';
import { streamKinds, streamPrefixes } from '../../events/streams.ts';
import type { KeyPeriod } from '../seals/succession.ts';
import { type Acknowledgements, acknowledgedIn } from './acknowledgements.ts';
import { createTimeCheck, reachedMs } from './recorded-times.ts';
import type { LogCounts } from './resume.ts';
import { createSealCheck, type SealMark } from './seals.ts';
import type { Violations } from './violations.ts';

export type LogResult = Awaited<ReturnType<typeof verifyLog>>;

/** If reading fails this often at the same place, within some seconds, the log cannot be read there. */
const maxFailures = 6;

/**
 * A seal up to which the log has been verified before, its tree, the position of its last event, and the time that the log
 * had reached; `counts` if that is part of this verification.
 */
export type VerifiedUntil = {
  mark: SealMark;
  range: Range;
  after: Position;
  reachedMs: number;
  counts: LogCounts | null;
};

type LogToVerify = {
  eventStore: Pick<EventStore, 'load' | 'subscribe'>;
  acknowledgements: Acknowledgements;
  marks: readonly SealMark[];
  from?: VerifiedUntil | null;
  /** A checkpoint that the log must lead to. */
  since?: Pick<Checkpoint, 'root' | 'size'> | null;
  violations: Violations;
  signal: AbortSignal;
  onProgress: (events: number) => void;
  /** Everything up to this seal was verified. */
  onSealed?: (mark: SealMark, counts: LogCounts) => void;
  /** How many heads of streams are kept in memory, at about 250 bytes each. Others are read from the store. */
  headsKept?: number;
};

/**
 * Reads the log to its end, from its start or from where it has been verified; not `complete` when only a part can be
 * read, so that nothing can be said about what is derived from it. The memory it needs does not grow with the log. Throws
 * the signal's reason.
 */
export async function verifyLog(task: LogToVerify) {
  const { eventStore, acknowledgements, marks, from = null, since = null, violations, signal } = task;
  const { headsKept = 100_000, onProgress, onSealed } = task;
  const heads = createHeads(eventStore, { kept: headsKept, isComplete: from === null });
  const counts = from?.counts;
  const seals = createSealCheck(marks, violations, eventStore, from, since);
  const times = createTimeCheck(from?.reachedMs ?? 0, counts?.early ?? { count: 0, first: '' });
  const after = from?.after ?? null;
  let events = counts?.events ?? 0;
  let streams = counts?.streams ?? 0;
  let last: RecordedEvent | null = null;
  const result = (complete: boolean) => ({ events, streams, seals, early: times.found(), complete });
  try {
    for await (const event of eventsToEnd(eventStore, { streamPrefixes, after, signal, maxFailures })) {
      last = event;
      const place = { stream: event.streamName, revision: event.revision };
      const known = await heads.before(event);
      const head = known ?? noEvents;
      if (!known) streams += 1;
      checkPlace(event, head, violations);
      acknowledgements.take(event, hashBefore(event, head));
      for (const { kind, sentence } of faultsOf(event, head, acknowledgements.trusted))
        acknowledgements.report(kind, place, sentence);
      heads.keep(event);
      const mark = await seals.take(event);
      times.take(event, place, mark ? reachedMs(mark, event) : 0);
      events += 1;
      const met = { seals: seals.met(), uncovered: seals.uncovered(), early: times.found() };
      if (mark) onSealed?.(mark, { events, streams, ...met });
      onProgress(events);
    }
    for (const stream of await hiddenStreams(eventStore, signal))
      violations.add(
        'missing events',
        `The metadata of ${stream} hide events of it, which only the log shows`,
      );
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable) || signal.aborted) throw error;
    const place = last ? `after ${nameOf(last)}, at position ${last.position.commit}` : 'from its start';
    violations.add('the log', `${error.message}, ${place}. Later events were not checked`);
    return result(false);
  }
  seals.end();
  return result(true);
}

const metadataPrefixes = [...streamPrefixes, sealsStream].map((prefix) => `$$${prefix}`);

/** The streams of which EventStoreDB hides events because their metadata say so. All metadata are read every time. */
async function hiddenStreams(
  eventStore: Pick<EventStore, 'subscribe'>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const hidden = new Set<string>();
  const all = { streamPrefixes: metadataPrefixes, after: null, signal, maxFailures };
  for await (const { data, streamName } of eventsToEnd(eventStore, all)) {
    const hides = ['$tb', '$maxCount', '$maxAge'].some((name) => Reflect.has(Object(data), name));
    hidden[hides ? 'add' : 'delete'](streamName.slice(2));
  }
  return hidden;
}

/** The last event of a stream so far. */
export type Head = { revision: number; hash: string };

export const noEvents: Head = { revision: -1, hash: genesisHash };

/** The last events of streams: kept for those met most recently, and read from the store for others. */
function createHeads(
  eventStore: Pick<EventStore, 'load'>,
  { kept, isComplete }: { kept: number; isComplete: boolean },
) {
  const heads = new RecentMap<Head>(kept);
  return {
    /** Null for the first event of a stream. */
    async before({ position, revision, streamName }: RecordedEvent): Promise<Head | null> {
      const head = heads.get(streamName);
      const hasAll = isComplete && heads.size < kept;
      if (head || hasAll || revision === 0) return head ?? null;
      const [stored] = await eventStore.load(streamName, revision - 1, 1);
      return stored && isAfter(position, stored.position)
        ? { revision: stored.revision, hash: hashIn(stored) }
        : null;
    },
    keep(event: RecordedEvent): void {
      heads.set(event.streamName, { revision: event.revision, hash: hashIn(event) });
    },
  };
}

/** The hash of the event right before one in its stream; the genesis hash if there is none, or it is missing. */
export const hashBefore = ({ revision }: RecordedEvent, head: Head): string =>
  head.revision === revision - 1 ? head.hash : genesisHash;

/** Checks that the event is the next in its stream. */
function checkPlace(event: RecordedEvent, head: Head, violations: Violations): void {
  const { revision, streamName } = event;
  const name = nameOf(event);
  const missing = revision - head.revision - 1;
  if (missing > 0) {
    const range = missing === 1 ? `${head.revision + 1} is` : `${head.revision + 1} to ${revision - 1} are`;
    violations.add('missing events', `Of ${streamName} revision ${range} missing, before ${name}`, missing);
  }
  if (missing < 0) violations.add('misplaced events', `${name} comes after revision ${head.revision}`);
}

/** What is wrong with the event itself, which comes after `head` in its stream. With null any acknowledgement is right. */
export function faultsOf(
  event: RecordedEvent,
  head: Head,
  trusted: readonly KeyPeriod[] | null,
): { kind: EventFault; sentence: string }[] {
  const faults: { kind: EventFault; sentence: string }[] = [];
  const name = nameOf(event);
  const previousHash = previousHashIn(event);
  if (!isChainedOnto(event, previousHash))
    faults.push({
      kind: 'changed events',
      sentence: `${name} is not what was written: its hash does not match`,
    });
  else if (event.revision === head.revision + 1 && previousHash !== head.hash)
    faults.push({
      kind: 'broken chains',
      sentence: `${name} was not written after the event that is now before it`,
    });
  const kind = streamKinds.find(({ prefix }) => event.streamName.startsWith(prefix));
  const read = kind && tryRead(kind.read, event);
  if (read instanceof UnreadableEvent)
    faults.push({ kind: 'unreadable events', sentence: `${name} cannot be read: ${read.message}` });
  if (trusted && event.streamName === acknowledgementsStream && !acknowledgedIn(event, trusted))
    faults.push({ kind: 'acknowledgements', sentence: `${name} is not what a trusted key has signed` });
  return faults;
}

const nameOf = ({ streamName, revision, type }: RecordedEvent) =>
  `${streamName} revision ${revision} (${type})`;
