/** What a stored seal says, if it is what was signed. find-seals.ts finds them. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
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
import { type LogSealed, readSeal, signedText } from '../../events/seals.ts';

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

/** Throws Unaccountable. */
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
