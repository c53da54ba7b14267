/** Keeps a gateway result that no payment takes, so that nothing a gateway said is ever lost. */
import { assert } from 'superstruct';
import { readUnmatchedResult } from '../events/codec.ts';
import { type Cause, chain, genesisHash, type Metadata } from '../events/envelope.ts';
import { GatewayResultUnmatched, unmatchedStream } from '../events/unmatched.ts';
import { schemaVersion } from '../events/upcast.ts';
import { type EventStore, EventStoreUnavailable, WrongExpectedRevision } from '../eventstore/event-store.ts';
import { canonicalJson } from '../kernel/canonical-json.ts';

const maxConflicts = 50;

/** Keeps one result for good. Throws EventStoreUnavailable. */
export type Quarantine = (result: GatewayResultUnmatched, cause: Cause) => Promise<void>;

/**
 * Appends to `gateway-unmatched`; a gateway that repeats itself at once adds nothing. All results meet in one stream,
 * so this process takes its own in turn and races with none but other processes.
 */
export function createQuarantine(eventStore: Pick<EventStore, 'append' | 'loadLast'>): Quarantine {
  let turn: Promise<void> = Promise.resolve();
  return (result, cause) => {
    const kept = turn.then(() => keep(eventStore, result, cause));
    turn = kept.catch(() => undefined);
    return kept;
  };
}

async function keep(
  eventStore: Pick<EventStore, 'append' | 'loadLast'>,
  result: GatewayResultUnmatched,
  cause: Cause,
): Promise<void> {
  assert(result, GatewayResultUnmatched);
  for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
    const last = await eventStore.loadLast(unmatchedStream);
    if (last && sameResult(readUnmatchedResult(last), result)) return;
    const previousHash = last ? (last.metadata as Metadata).hash : genesisHash;
    const chained = chain(
      [{ type: 'GatewayResultUnmatched', data: result }],
      previousHash,
      cause,
      schemaVersion,
    );
    try {
      await eventStore.append(unmatchedStream, chained, last?.revision ?? 'no_stream');
      return;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
    }
  }
  throw new EventStoreUnavailable(
    `Stream ${unmatchedStream} changed ${maxConflicts} times while a result waited`,
  );
}

function sameResult(a: GatewayResultUnmatched, b: GatewayResultUnmatched): boolean {
  return a.channel === b.channel && canonicalJson(a.raw) === canonicalJson(b.raw);
}
