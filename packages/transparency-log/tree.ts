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
// Through hexadecimal, because Node takes three times as long for a digest as 'buffer'.
const sha256 = (bytes: Buffer) => Buffer.from(digestOf('sha256', bytes), 'hex');

const isOdd = (value: number) => value % 2 === 1;
const half = (value: number) => Math.floor(value / 2);

export function rootOf({ roots }: Range): Buffer {
  const [last = sha256(Buffer.alloc(0)), ...others] = roots.toReversed();
  return others.reduce((right, left) => nodeHash(left, right), last);
}

/** Whether these are the subtrees of a tree of this size with this root. */
export function isRangeOf(range: Range, root: Buffer): boolean {
  const complete = [...range.size.toString(2)].filter((bit) => bit === '1').length;
  return range.roots.length === complete && rootOf(range).equals(root);
}

/** A tree that grows; needs memory for one hash for each level. */
export function growTree(start: Range = emptyRange) {
  const roots = [...start.roots];
  let { size } = start;
  return {
    add(leaf: Buffer): void {
      let node = leaf;
      for (let rest = size; isOdd(rest); rest = half(rest)) node = nodeHash(roots.pop() as Buffer, node);
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

/** Part of a tree: what it was at some size, and the leaves after that. */
export type Part = { range: Range; leaves: readonly Buffer[] };

/** The largest power of two below a size of at least 2. */
const split = (size: number) => 2 ** (Math.ceil(Math.log2(size)) - 1);

/**
 * The root over the leaves from `start` on and before `end`, which proofs consist of. Before the end of the range they
 * need no other subtrees than its roots.
 */
function rootBetween(part: Part, start: number, end: number): Buffer {
  const { range, leaves } = part;
  if (end <= range.size) {
    const index = range.roots.findIndex((_, at) => startOf(range, at) === start);
    return range.roots[index] as Buffer;
  }
  if (end - start === 1) return leaves[start - range.size] as Buffer;
  const middle = start + split(end - start);
  return nodeHash(rootBetween(part, start, middle), rootBetween(part, middle, end));
}

/** The first leaf below a root: each covers the largest power of two that the size has left. */
function startOf({ size }: Range, at: number): number {
  let start = 0;
  for (let root = 0; root < at; root += 1) start += 2 ** Math.floor(Math.log2(size - start));
  return start;
}

/** PATH of RFC 9162, section 2.1.3.1, for a leaf after the range: from its sibling up to the root of the whole part. */
export function proveInclusion(part: Part, index: number): Buffer[] {
  return pathTo(part, index, 0, part.range.size + part.leaves.length);
}

function pathTo(part: Part, index: number, start: number, end: number): Buffer[] {
  if (end - start === 1) return [];
  const middle = start + split(end - start);
  return index < middle
    ? [...pathTo(part, index, start, middle), rootBetween(part, middle, end)]
    : [...pathTo(part, index, middle, end), rootBetween(part, start, middle)];
}

/** PROOF of RFC 9162, section 2.1.4.1, that the tree of the whole part continues that of its range. */
export function proveConsistency(part: Part): Buffer[] {
  const { size } = part.range;
  return size === 0 ? [] : stepsFrom(part, 0, size + part.leaves.length, true);
}

/** SUBPROOF of the same section; `isKnown` if whoever has the smaller tree's root has that of this subtree. */
function stepsFrom(part: Part, start: number, end: number, isKnown: boolean): Buffer[] {
  const { size } = part.range;
  if (size === end) return isKnown ? [] : [rootBetween(part, start, end)];
  const middle = start + split(end - start);
  return size <= middle
    ? [...stepsFrom(part, start, middle, isKnown), rootBetween(part, middle, end)]
    : [...stepsFrom(part, middle, end, false), rootBetween(part, start, middle)];
}
