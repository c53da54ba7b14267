/**
 * The Merkle tree of RFC 9162, section 2.1: its root as leaves are added, and the check of inclusion and consistency
 * proofs. Hashes are SHA-256, 32 bytes.
 */
import { hash as digestOf } from 'node:crypto';

/** A tree of `size` leaves, as the roots of the largest complete subtrees that it consists of, from left to right. */
export type Range = { size: number; roots: readonly Buffer[] };

export const emptyRange: Range = { size: 0, roots: [] };

export const leafHash = (entry: Buffer) => sha256(Buffer.concat([Buffer.of(0), entry]));
export const nodeHash = (left: Buffer, right: Buffer) => sha256(Buffer.concat([Buffer.of(1), left, right]));
const sha256 = (bytes: Buffer) => digestOf('sha256', bytes, 'buffer');

const isOdd = (value: number) => value % 2 === 1;
const half = (value: number) => Math.floor(value / 2);

export function rootOf({ roots }: Range): Buffer {
  const [last = sha256(Buffer.alloc(0)), ...others] = roots.toReversed();
  return others.reduce((right, left) => nodeHash(left, right), last);
}

/** A tree that grows; needs memory for one hash for each level. `onNode` is told of every complete subtree, as it completes. */
export function growTree(
  start: Range = emptyRange,
  onNode: (level: number, node: Buffer) => void = () => {},
) {
  const roots = [...start.roots];
  let { size } = start;
  return {
    add(leaf: Buffer): void {
      let node = leaf;
      onNode(0, node);
      for (let level = 1, rest = size; isOdd(rest); level += 1, rest = half(rest)) {
        node = nodeHash(roots.pop() as Buffer, node);
        onNode(level, node);
      }
      roots.push(node);
      size += 1;
    },
    size: () => size,
    root: () => rootOf({ size, roots }),
    range: (): Range => ({ size, roots: [...roots] }),
  };
}

/** The root to which an inclusion proof leads (RFC 9162, section 2.1.3.2); null if its form is not that of a proof. */
export function rootOfInclusion(
  leaf: Buffer,
  { index, size, proof }: { index: number; size: number; proof: readonly Buffer[] },
): Buffer | null {
  if (index >= size) return null;
  let place = { node: index, last: size - 1 };
  let root = leaf;
  for (const each of proof) {
    if (place.last === 0) return null;
    if (isOdd(place.node) || place.node === place.last) {
      root = nodeHash(each, root);
      place = untilRightChild(place);
    } else root = nodeHash(root, each);
    place = parent(place);
  }
  return place.last === 0 ? root : null;
}

type Head = { size: number; root: Buffer };

/** Whether the tree of the second head continues that of the first (RFC 9162, section 2.1.4.2). */
export function isConsistent(first: Head, second: Head, proof: readonly Buffer[]): boolean {
  if (first.size > second.size) return false;
  if (first.size === 0) return proof.length === 0;
  if (first.size === second.size) return proof.length === 0 && first.root.equals(second.root);
  if (proof.length === 0) return false;
  const isComplete = Number.isInteger(Math.log2(first.size));
  const [start, ...path] = isComplete ? [first.root, ...proof] : proof;
  let place = { node: first.size - 1, last: second.size - 1 };
  while (isOdd(place.node)) place = parent(place);
  let [before, after] = [start as Buffer, start as Buffer];
  for (const each of path) {
    if (place.last === 0) return false;
    if (isOdd(place.node) || place.node === place.last) {
      before = nodeHash(each, before);
      after = nodeHash(each, after);
      place = untilRightChild(place);
    } else after = nodeHash(after, each);
    place = parent(place);
  }
  return place.last === 0 && before.equals(first.root) && after.equals(second.root);
}

/** A node by its index, and the last node of its level. */
type Place = { node: number; last: number };

const parent = ({ node, last }: Place): Place => ({ node: half(node), last: half(last) });

/** The last node of a level is the root of the same subtree on the levels above until it has a sibling on its left. */
function untilRightChild(place: Place): Place {
  let at = place;
  while (!isOdd(at.node) && at.node !== 0) at = parent(at);
  return at;
}

/** The root of the complete subtree with this index on this level (0: the leaves). */
export type NodeAt = (level: number, index: number) => Promise<Buffer>;

/** The largest power of two below a size of at least 2. */
const split = (size: number) => 2 ** (Math.ceil(Math.log2(size)) - 1);

/** The root over the leaves from `start` on and before `end`. */
async function rootBetween(nodeAt: NodeAt, start: number, end: number): Promise<Buffer> {
  const level = Math.log2(end - start);
  if (Number.isInteger(level)) return await nodeAt(level, start / (end - start));
  const middle = start + split(end - start);
  return nodeHash(await rootBetween(nodeAt, start, middle), await rootBetween(nodeAt, middle, end));
}

export async function rangeOf(nodeAt: NodeAt, size: number): Promise<Range> {
  const roots: Buffer[] = [];
  for (let level = Math.floor(Math.log2(size || 1)), start = 0; start < size; level -= 1)
    if (start + 2 ** level <= size) {
      roots.push(await nodeAt(level, start / 2 ** level));
      start += 2 ** level;
    }
  return { size, roots };
}

/** PATH of RFC 9162, section 2.1.3.1: from the leaf's sibling up to the root. */
export async function proveInclusion(
  nodeAt: NodeAt,
  index: number,
  end: number,
  start = 0,
): Promise<Buffer[]> {
  if (end - start === 1) return [];
  const middle = start + split(end - start);
  return index < middle
    ? [...(await proveInclusion(nodeAt, index, middle, start)), await rootBetween(nodeAt, middle, end)]
    : [...(await proveInclusion(nodeAt, index, end, middle)), await rootBetween(nodeAt, start, middle)];
}

/** PROOF of RFC 9162, section 2.1.4.1, that the tree of `end` leaves continues that of `size`. */
export async function proveConsistency(nodeAt: NodeAt, size: number, end: number): Promise<Buffer[]> {
  return size === 0 || size === end ? [] : await proveSubtree(nodeAt, { size, start: 0, end, isKnown: true });
}

/** SUBPROOF of the same section; `isKnown` if whoever has the smaller tree's root has that of this subtree. */
async function proveSubtree(
  nodeAt: NodeAt,
  { size, start, end, isKnown }: { size: number; start: number; end: number; isKnown: boolean },
): Promise<Buffer[]> {
  if (size === end) return isKnown ? [] : [await rootBetween(nodeAt, start, end)];
  const middle = start + split(end - start);
  return size <= middle
    ? [
        ...(await proveSubtree(nodeAt, { size, start, end: middle, isKnown })),
        await rootBetween(nodeAt, middle, end),
      ]
    : [
        ...(await proveSubtree(nodeAt, { size, start: middle, end, isKnown: false })),
        await rootBetween(nodeAt, start, middle),
      ];
}
