// The tamper-evidence chain of a stream, checked from its first event to its last.
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import type { ExecutionContext } from 'ava';
import { genesisHash, hashOf, type Metadata } from '../../src/events/envelope.ts';

export function checkChain(t: ExecutionContext, stored: readonly RecordedEvent[]): void {
  let previousHash = genesisHash;
  for (const [index, { type, data, metadata, revision }] of stored.entries()) {
    const { hash, previousHash: named } = metadata as Metadata;
    t.is(revision, index);
    t.is(named, previousHash);
    t.is(hashOf(type, data, metadata as Metadata), hash);
    previousHash = hash;
  }
}
