/** Verifies that the events of an export are in the log, and are all that was asked for. */
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import {
  type Checkpoint,
  lackOfWitnesses,
  openCheckpoint,
  type Witnesses,
} from '@ledger/transparency-log/note.ts';
import { growTree, isRangeOf, leafHash, rootOf, rootOfInclusion } from '@ledger/transparency-log/tree.ts';
import { type Leaf, leafEntry } from '../../events/seals.ts';
import { disorderMs, isAskedFor } from '../export/export.ts';
import type { ExportRange, LeafEntry, TreeStart } from '../export/lines.ts';
import type { EventProof } from '../seals/leaves.ts';
import { readSignedSeal } from '../seals/stored-seals.ts';

const bytesOf = (hashes: readonly string[]) => hashes.map((each) => Buffer.from(each, 'base64'));

/**
 * `take` functions return what is wrong, or null. With null, any signer is trusted. Needs some 200 bytes of memory for each
 * event of the file. Over 70 lines: what the kinds of lines share is its state.
 */
export function createLeafCheck(
  range: () => ExportRange | null,
  trusted: readonly KeyTerm[] | null,
  witnesses: Witnesses | null,
) {
  const payments: { stream: string; leaves: Map<number, { hash: Buffer; label: string }> }[] = [];
  const tags = new Map<string, string>();
  let tree: ReturnType<typeof growTree> | null = null;
  let checkpoint: Checkpoint | null = null;
  /** Whether something in the file has a proof of its own. */
  let hasProofs = false;
  let unproven = 0;
  /** The places in the log, counted from 1, of events that the file has only as leaves. */
  const alone: number[] = [];

  /** When the last payment among the leaves was requested. */
  let lastRequest = '';

  const open = (note: string, keys = trusted, untilSeconds = Infinity) =>
    (witnesses && lackOfWitnesses(note, witnesses, untilSeconds)) ?? openCheckpoint(note, keys);

  function faultOf(hash: Buffer, { checkpoint: note, hashes, index }: EventProof): string | null {
    hasProofs = true;
    const said = open(note);
    if (typeof said === 'string') return said;
    const path = { index, size: said.size, proof: bytesOf(hashes) };
    const isIn = rootOfInclusion(hash, path)?.equals(said.root) === true;
    return isIn ? null : 'The event is not the one in the log that its proof is for';
  }

  function takeOther([tag, label]: Leaf): string | null {
    const request = range();
    const stream = tags.get(tag);
    if (stream !== undefined) return `An event of ${stream} is in the log, and was left out of the file`;
    if (!request) return null;
    if (isAskedFor(label, request))
      return `A payment of ${label} is in the log, and was left out of the file`;
    noteRequest(label);
    return null;
  }

  function noteRequest(label: string): void {
    const [at = ''] = label.split(' ');
    if (at > lastRequest) lastRequest = at;
  }

  /** Whether the tree was sealed, and signed by witnesses, before any payment of the range could come after it. */
  function isBeforeRange({ seal: stored }: TreeStart, root: Buffer): boolean {
    const seal = stored && readSignedSeal(stored);
    const fromMs = Date.parse(range()?.from ?? '');
    if (!seal?.checkpoint?.root.equals(root) || !(Date.parse(seal.at) <= fromMs - disorderMs)) return false;
    // Of several keys that have signed the checkpoint, the one that has signed the time must be trusted.
    const keys = trusted?.filter(({ publicKey }) => publicKey === seal.publicKey);
    return typeof open(seal.checkpoint.note, keys, fromMs / 1000) !== 'string';
  }

  return {
    takeEvent(stream: string, revision: number, leaf: Leaf, proof?: EventProof | null): string | null {
      if (tree) return 'An event comes after the leaves, among which its stream was not looked for';
      if (payments.at(-1)?.stream !== stream) payments.push({ stream, leaves: new Map() });
      const [tag, label] = leaf;
      tags.set(tag, stream);
      const hash = leafHash(leafEntry(leaf));
      if (!proof) {
        payments.at(-1)?.leaves.set(revision, { hash, label });
        unproven += 1;
        return null;
      }
      return faultOf(hash, proof);
    },
    takeLeaf(leaf: Leaf, proof: EventProof): string | null {
      if (tree) return 'A leaf with a proof comes after the tree';
      alone.push(proof.index + 1);
      return faultOf(leafHash(leafEntry(leaf)), proof);
    },
    takeTree(start: TreeStart): string | null {
      // What another tree, or a proof, has shown need not be among the leaves of this one.
      if (tree || hasProofs) return 'The tree comes once, and beside no other proof';
      const said = open(start.checkpoint);
      if (typeof said === 'string') return said;
      const before = { size: start.size, roots: bytesOf(start.roots) };
      if (!isRangeOf(before, rootOf(before))) return 'It is not a part of a tree';
      checkpoint = said;
      if (start.size > 0 && !isBeforeRange(start, rootOf(before)))
        return 'The leaves begin too late: payments before them may have been left out';
      tree = growTree(before);
      return null;
    },
    takeLeaves(entries: readonly LeafEntry[]): string | null {
      for (const entry of entries) {
        let hash: Buffer | undefined;
        if (entry.length === 3) {
          const reason = takeOther(entry);
          if (reason !== null) return reason;
          hash = leafHash(leafEntry(entry));
        } else {
          const [number, revision] = entry;
          const own = payments[number]?.leaves.get(revision);
          hash = own?.hash;
          noteRequest(own?.label ?? '');
          payments[number]?.leaves.delete(revision);
          unproven -= 1;
        }
        if (!hash || !tree) return 'It names an event that is not in the file';
        tree.add(hash);
      }
      return null;
    },
    /** To be called after the last event and leaf. */
    end(): string | null {
      if (!tree || !checkpoint) return null;
      if (tree.size() !== checkpoint.size || !tree.root().equals(checkpoint.root))
        return 'The events of the file and the leaves between them are not what the checkpoint was signed for';
      return null;
    },
    /** How many events nothing proves, and the first of them; whether the file shows that it lacks none. */
    result() {
      const first = payments.find(({ leaves }) => leaves.size > 0);
      const [revision] = first?.leaves.keys() ?? [];
      const name = first ? `${first.stream} revision ${revision}` : '';
      return { unproven, first: name, checkpoint, alone, lastRequest };
    },
  };
}
