/** Checks the seals by themselves: that each is what was signed, by a key that is trusted, and follows on the one before. */
import { readSeal, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn, isChainedOnto, previousHashIn } from '../../events/envelope.ts';
import { type LogSealed, sealsStream } from '../../events/seals.ts';
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from '../../eventstore/event-store.ts';
import { isSigned } from '../seals/key.ts';
import type { Violations } from './violations.ts';

/** What the log is held to: a seal in order. */
export type SealMark = Pick<LogSealed, 'at' | 'count' | 'runningHash' | 'lastEvent' | 'streams'> & {
  /** Of the seal in its stream. */
  revision: number;
};

const pageSize = 500;

/**
 * Every seal, in order; those at fault are left out and are among the findings. `trusted` holds public keys as seals name
 * them; with null whoever signed is taken for the ledger. Needs memory for every seal, some 300 bytes each.
 */
export async function verifySeals(
  eventStore: Pick<EventStore, 'load'>,
  trusted: readonly string[] | null,
  violations: Violations,
): Promise<SealMark[]> {
  const marks: SealMark[] = [];
  let before: Before = { revision: -1, hash: genesisHash, count: 0 };
  for await (const stored of readableSeals(eventStore, violations)) {
    const seal = check(stored, before, trusted, violations);
    const { revision } = stored;
    before = { revision, hash: hashIn(stored), count: seal?.count ?? before.count };
    if (!seal) continue;
    const { at, count, runningHash, lastEvent } = seal;
    // Nearly all name the same streams: they share one list.
    const last = marks.at(-1)?.streams ?? [];
    const streams = last.join() === seal.streams.join() ? last : seal.streams;
    marks.push({ revision, at, count, runningHash, lastEvent, streams });
  }
  return marks;
}

/** Seals that come after bytes which are no event any more cannot be read. */
async function* readableSeals(
  eventStore: Pick<EventStore, 'load'>,
  violations: Violations,
): AsyncGenerator<RecordedEvent> {
  try {
    yield* allSeals(eventStore);
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    violations.add('seals', `Not all seals can be read: ${error.message}`);
  }
}

type Before = { revision: number; hash: string; count: number };

/** Null for a seal that the log cannot be held to. */
function check(
  stored: RecordedEvent,
  before: Before,
  trusted: readonly string[] | null,
  violations: Violations,
): LogSealed | null {
  const name = `Seal ${stored.revision}`;
  const isNext = stored.revision === before.revision + 1;
  if (!isNext) violations.add('the chain of seals', `Seal ${before.revision + 1} is not there`);
  const seal = readSealOrNull(stored);
  if (!seal || !isSigned(seal) || !isChainedOnto(stored, isNext ? before.hash : previousHashIn(stored))) {
    violations.add('seals', `${name} is not what was signed and written, or not after the seal before it`);
    return null;
  }
  if (trusted && !trusted.includes(seal.publicKey)) {
    violations.add('keys of seals', `${name} was signed with a key that is not trusted`);
    return null;
  }
  if ((isNext && seal.previousSeal !== before.hash) || seal.count <= before.count)
    violations.add('the chain of seals', `${name} does not go on from the seal before it`);
  return seal;
}

/** Null for what is no seal any more. */
export function readSealOrNull(stored: RecordedEvent): LogSealed | null {
  try {
    return readSeal(stored).data;
  } catch (error) {
    if (error instanceof UnreadableEvent) return null;
    throw error;
  }
}

/** Every seal as it is stored, page by page. */
export async function* allSeals(eventStore: Pick<EventStore, 'load'>): AsyncGenerator<RecordedEvent> {
  let from = 0;
  while (true) {
    const page = await eventStore.load(sealsStream, from, pageSize);
    yield* page;
    if (page.length < pageSize) return;
    from += page.length;
  }
}
