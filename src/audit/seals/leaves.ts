/** The leaves of the log's tree between two checkpoints, read from the log, and proofs made from them. Decision 37. */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import {
  emptyRange,
  growTree,
  leafHash,
  proveConsistency,
  proveInclusion,
  rootOfInclusion,
} from '@ledger/transparency-log/tree.ts';
import { isCovered, type Leaf, leafEntry, leafOf } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import {
  checkpointAfter,
  checkpointBefore,
  checkpointUpTo,
  lastCheckpoint,
  lastEventOf,
  type TreeSeal,
} from './find-seals.ts';
import { disagreement } from './stored-seals.ts';

type Reader = Pick<EventStore, 'load' | 'loadLast' | 'subscribe'>;
/** The note of the checkpoint, the place of the leaf in its tree, and the hashes in base64. */
export type EventProof = { checkpoint: string; index: number; hashes: string[] };

/**
 * The events that are leaves, in order, after one seal (null: from the first event) up to another. Throws Unaccountable
 * if the log ends before that, EventStoreUnavailable, and the signal's reason.
 */
export async function* leavesBetween(
  eventStore: Reader,
  { from, to, signal }: { from: TreeSeal | null; to: TreeSeal; signal?: AbortSignal | undefined },
): AsyncGenerator<{ event: RecordedEvent; leaf: Leaf }> {
  let size = from?.count ?? 0;
  if (size >= to.count) return;
  const after = from && (await lastEventOf(from, eventStore)).position;
  let awaited = await checkpointAfter(eventStore, from);
  const prefixes = [...new Set([...streamPrefixes, ...to.streams])];
  const reading = { streamPrefixes: prefixes, after, signal, maxFailures: 4 };
  for await (const event of eventsToEnd(eventStore, reading)) {
    while (awaited && size >= awaited.count) awaited = await checkpointAfter(eventStore, awaited);
    if (!isCovered(event, awaited?.streams ?? [])) continue;
    size += 1;
    yield { event, leaf: leafOf(event) };
    if (size === to.count) return;
  }
  throw disagreement(`seal ${to.revision}`);
}

/**
 * Proves that the tree of the last seal with these leaves continues the tree of a size; null if it is smaller. No seal need
 * have that size: a process may have ended after the witnesses had signed its checkpoint, and before it appended the seal.
 */
export async function proveSince(
  eventStore: Reader,
  size: number,
  { leaves, signal }: { leaves: readonly Buffer[]; signal: AbortSignal },
): Promise<Buffer[] | null> {
  if (size === 0) return [];
  const last = await lastCheckpoint(eventStore);
  const from = last && (await checkpointUpTo(eventStore, size, last));
  const since: Buffer[] = [];
  if (last)
    for await (const { leaf } of leavesBetween(eventStore, { from, to: last, signal }))
      since.push(leafHash(leafEntry(leaf)));
  const hashes = [...since, ...leaves];
  const tree = growTree(from?.checkpoint.range);
  if (size > tree.size() + hashes.length) return null;
  for (const hash of hashes.splice(0, size - tree.size())) tree.add(hash);
  return proveConsistency({ range: tree.range(), leaves: hashes });
}

/**
 * A proof for each of these events of a stream, which are in order, that it is a leaf of the tree of the first checkpoint
 * that covers it; null for those that none covers yet. Throws Unaccountable if the log does not agree with its seals.
 */
export async function proveEvents(
  eventStore: Reader,
  events: readonly RecordedEvent[],
  signal?: AbortSignal,
): Promise<(EventProof | null)[]> {
  const proofs: (EventProof | null)[] = [];
  const last = await lastCheckpoint(eventStore);
  const wanted = new Set(events.map(({ id }) => id));
  while (proofs.length < events.length) {
    const first = events[proofs.length] as RecordedEvent;
    const from = last && (await checkpointBefore(eventStore, first.position, last));
    const to = last && (await checkpointAfter(eventStore, from));
    if (!to) return events.map((_, at) => proofs[at] ?? null);
    const range = from?.checkpoint.range ?? emptyRange;
    const leaves: Buffer[] = [];
    const found: { index: number; leaf: Buffer }[] = [];
    for await (const { event, leaf } of leavesBetween(eventStore, { from, to, signal })) {
      const hashed = leafHash(leafEntry(leaf));
      if (wanted.has(event.id)) found.push({ index: range.size + leaves.length, leaf: hashed });
      leaves.push(hashed);
    }
    if (found.length === 0) throw disagreement(`seal ${to.revision}`);
    for (const { index, leaf } of found) {
      const proof = proveInclusion({ range, leaves }, index);
      if (!rootOfInclusion(leaf, { index, size: to.count, proof })?.equals(to.checkpoint.root))
        throw disagreement(`seal ${to.revision}`);
      const hashes = proof.map((each) => each.toString('base64'));
      proofs.push({ checkpoint: to.checkpoint.note, index, hashes });
    }
  }
  return proofs;
}
