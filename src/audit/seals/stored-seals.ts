/** Stored seals, the last of them (from which sealing continues), and whether events are waiting for the next. */
import { readSeal, tryRead, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn } from '../../events/envelope.ts';
import { emptyTally, type LogSealed, sealsStream, type Tally } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import type { EventStore, ExpectedRevision, Position, RecordedEvent } from '../../eventstore/event-store.ts';
import { isSigned } from './key.ts';

/** The log does not agree with the last seal: run `ledger verify`. No personal data. */
export class Unaccountable extends Error {
  override name = 'Unaccountable';
}

/** The last seal: the next one is chained onto it and continues its count. */
export type LastSeal = { seal: LogSealed | null; revision: ExpectedRevision; hash: string };

const pageSize = 500;

/** Null if somebody has made it unreadable. */
export function readSealOrNull(stored: RecordedEvent): LogSealed | null {
  const seal = tryRead(readSeal, stored);
  return seal instanceof UnreadableEvent ? null : seal.data;
}

/** Null unless the key that it names has signed it. */
export function readSignedSeal(stored: RecordedEvent): LogSealed | null {
  const seal = readSealOrNull(stored);
  return seal && isSigned(seal) ? seal : null;
}

export async function* allSeals(eventStore: Pick<EventStore, 'load'>): AsyncGenerator<RecordedEvent> {
  let from = 0;
  while (true) {
    const page = await eventStore.load(sealsStream, from, pageSize);
    yield* page;
    if (page.length < pageSize) return;
    from += page.length;
  }
}

/**
 * The last seal, and the tally and position of the seal before it: counting from there must lead to the last one. Throws
 * Unaccountable.
 */
export async function loadLastSeal(
  eventStore: Pick<EventStore, 'load' | 'loadLast'>,
): Promise<{ last: LastSeal; before: Tally; after: Position | null }> {
  const stored = await eventStore.loadLast(sealsStream);
  const start = { before: emptyTally, after: null };
  if (!stored) return { last: { seal: null, revision: 'no_stream', hash: genesisHash }, ...start };
  const seal = signedSealIn(stored);
  const last = { seal, revision: stored.revision, hash: hashIn(stored) };
  if (stored.revision === 0) return { last, ...start };
  const [storedBefore] = await eventStore.load(sealsStream, stored.revision - 1, 1);
  if (!storedBefore || hashIn(storedBefore) !== seal.previousSeal) throw disagreement(last);
  const { count, runningHash } = signedSealIn(storedBefore);
  return { last, before: { count, runningHash }, after: await positionSealed(storedBefore, eventStore) };
}

/**
 * The position of the seal's last event in this log, which in a restored copy is not the one that the seal names.
 * Throws Unaccountable.
 */
async function positionSealed(
  stored: RecordedEvent,
  eventStore: Pick<EventStore, 'load'>,
): Promise<Position> {
  const { lastEvent } = signedSealIn(stored);
  const [event] = await eventStore.load(lastEvent.stream, lastEvent.revision, 1);
  if (event?.id === lastEvent.id) return event.position;
  throw new Unaccountable(`The last event of seal ${stored.revision} is not in the log`);
}

function signedSealIn(stored: RecordedEvent): LogSealed {
  const seal = readSignedSeal(stored);
  if (!seal) throw new Unaccountable(`Seal ${stored.revision} is not what was signed`);
  return seal;
}

export function disagreement({ revision }: LastSeal): Unaccountable {
  return new Unaccountable(`The log does not agree with seal ${revision}`);
}

/** The sealer seals at least every ten minutes; when an event waits longer than this, sealing has stopped. */
export const sealedWithinMs = 30 * 60_000;

type Unsealed =
  | { state: 'none' }
  /** `since`: when the oldest event that no seal covers was stored. */
  | { state: 'due' | 'overdue'; since: Date }
  /** The last seal is not as signed, or its last event is not in the log: nothing is sealed any more. */
  | { state: 'unaccountable' };

/**
 * Whether the log is being sealed, as staff see it: from the last seal and the first event after it. Throws
 * EventStoreUnavailable, also when the signal aborts before the store has answered.
 */
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
