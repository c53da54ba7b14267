/** Stored seals, and the last of them, from which sealing continues. */
import type { EventStore, ExpectedRevision, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { pagesOf } from '@ledger/kernel/pages.ts';
import { isSigned } from '@ledger/transparency-log/key.ts';
import {
  type Checkpoint,
  parseCheckpoint,
  parseNote,
  rawKeyOf,
  signedAt,
} from '@ledger/transparency-log/note.ts';
import { isRangeOf, type Range } from '@ledger/transparency-log/tree.ts';
import { tryRead, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn } from '../../events/envelope.ts';
import { type LogSealed, readSeal, sealsStream, signedText } from '../../events/seals.ts';

/** The log does not agree with the last seal: run `ledger verify`. No personal data. */
export class Unaccountable extends Error {
  override name = 'Unaccountable';
}

export type Seal = Pick<LogSealed, 'at' | 'lastEvent' | 'streams' | 'publicKey'> & {
  /** How many events there are up to it, and the running hash over them or the root of their tree, in hexadecimal. */
  count: number;
  hash: string;
  /** Null in a seal with a running hash, as releases before decision 37 made them. */
  checkpoint: (Checkpoint & { note: string; range: Range }) | null;
  /** The hash of the seal before as it was signed; null in a checkpoint, which the tree binds to those before. */
  previousSeal: string | null;
  /** The key before, which has signed that the seal's own key follows it; null in all but the first seal of a key. */
  handedOverBy: string | null;
};

/** A seal at its place in the stream of seals. */
export type PlacedSeal = Seal & { revision: number };

/** The last seal: the next one is chained onto it and continues its count. */
export type LastSeal = { seal: Seal | null; revision: ExpectedRevision; hash: string };

const pageSize = 500;

/** Null unless the key that it names has signed it. */
export function readSignedSeal(stored: Pick<RecordedEvent, 'type' | 'data' | 'metadata'>): Seal | null {
  const read = tryRead(readSeal, stored);
  if (read instanceof UnreadableEvent || !isSigned(read.data, signedText(read.data))) return null;
  const { at, lastEvent, streams, publicKey } = read.data;
  const said = { at, lastEvent, streams, publicKey };
  if (read.type === 'LogSealed') {
    const { count, runningHash, previousSeal } = read.data;
    return { ...said, count, hash: runningHash, checkpoint: null, previousSeal, handedOverBy: null };
  }
  const note = parseNote(read.data.checkpoint);
  const checkpoint = note && parseCheckpoint(note.text);
  if (!checkpoint) return null;
  const { origin: name, size: count, root } = checkpoint;
  const range = { size: count, roots: read.data.range.map((each) => Buffer.from(each, 'base64')) };
  const { handOver, ...rest } = read.data;
  const isHandedOver = handOver !== undefined && isSigned(handOver, signedText(rest));
  const isNoteSigned = signedAt(note, { kind: 'log', name, publicKey: rawKeyOf(publicKey) }) !== null;
  if (!isNoteSigned || !isRangeOf(range, root)) return null;
  return {
    ...said,
    count,
    hash: root.toString('hex'),
    checkpoint: { ...checkpoint, note: read.data.checkpoint, range },
    previousSeal: null,
    handedOverBy: isHandedOver ? handOver.publicKey : null,
  };
}

export async function* allSeals(eventStore: Pick<EventStore, 'load'>): AsyncGenerator<RecordedEvent> {
  const load = (after: RecordedEvent | null) =>
    eventStore.load(sealsStream, (after?.revision ?? -1) + 1, pageSize);
  for await (const page of pagesOf(pageSize, load)) yield* page;
}

/** Throws Unaccountable. */
export async function loadLastSeal(eventStore: Pick<EventStore, 'loadLast'>): Promise<LastSeal> {
  const stored = await eventStore.loadLast(sealsStream);
  if (!stored) return { seal: null, revision: 'no_stream', hash: genesisHash };
  return { seal: signedSealIn(stored), revision: stored.revision, hash: hashIn(stored) };
}

/**
 * The seal's last event, whose position in a restored copy of the log is not what it was when it was sealed. Throws
 * Unaccountable.
 */
export async function lastEventOf(
  { lastEvent, revision }: Pick<PlacedSeal, 'lastEvent' | 'revision'>,
  eventStore: Pick<EventStore, 'load'>,
): Promise<RecordedEvent> {
  const [event] = await eventStore.load(lastEvent.stream, lastEvent.revision, 1);
  if (event?.id === lastEvent.id) return event;
  throw new Unaccountable(`The last event of seal ${revision} is not in the log`);
}

export function signedSealIn(stored: RecordedEvent): PlacedSeal {
  const { revision } = stored;
  const seal = readSignedSeal(stored);
  if (!seal) throw new Unaccountable(`Seal ${revision} is not what was signed`);
  return { ...seal, revision };
}

/** `what` names a seal or checkpoint. */
export function disagreement(what: string): Unaccountable {
  return new Unaccountable(`The log does not agree with ${what}`);
}

/** The sealer seals at least every ten minutes; when an event waits longer than this, sealing has stopped. */
export const sealedWithinMs = 30 * 60_000;
