/** Gateway results that match no payment: how the quarantine keeps them, and how staff resolve one. */
import { readUnmatchedEvent, readUnmatchedResult } from '../events/codec.ts';
import type { Cause } from '../events/envelope.ts';
import type { ReceivedFields } from '../events/personal-data.ts';
import {
  evolveUnmatched,
  type GatewayResultUnmatched,
  type QuarantineEvent,
  type ResolvedUnmatched,
  type UnmatchedEvent,
  type UnmatchedResolution,
  unmatchedStream,
} from '../events/unmatched.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute, type SealEvents } from './execute.ts';
import { type Fingerprint, isSameContent } from './fingerprint.ts';

/** Decided from the last result in quarantine: a gateway that repeats itself at once adds nothing. */
const quarantineDecider: Decider<GatewayResultUnmatched | null, GatewayResultUnmatched, QuarantineEvent> = {
  initial: null,
  read: readUnmatchedResult,
  evolve: (_, { data }) => data,
  decide: (result, last) =>
    last && isSameResult(last, result) ? [] : [{ type: 'GatewayResultUnmatched', data: result }],
};

function isSameResult(a: GatewayResultUnmatched, b: GatewayResultUnmatched): boolean {
  return (
    a.channel === b.channel && isSameContent({ ...a, content: a.evidence }, { ...b, content: b.evidence })
  );
}

/** `raw` is every field as received. */
export type UnmatchedReport = Omit<GatewayResultUnmatched, 'evidence' | 'fingerprint'> & {
  raw: ReceivedFields;
};

/** Stores one result permanently. Throws EventStoreUnavailable and KeysUnavailable. */
export type Quarantine = (report: UnmatchedReport, cause: Cause) => Promise<void>;

/**
 * Appends to `gateway-unmatched`. All results go to that one stream, so this process appends one at a time and races
 * only with other processes.
 */
export function createQuarantine({
  eventStore,
  seal,
  fingerprint,
}: {
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>;
  seal: SealEvents;
  fingerprint: Fingerprint;
}): Quarantine {
  const execute = createExecute({
    eventStore,
    seal,
    decider: quarantineDecider,
    async load(streamName) {
      const last = await eventStore.loadLast(streamName);
      return last ? [last] : [];
    },
  });
  let turn: Promise<unknown> = Promise.resolve();
  return async ({ raw, ...report }, cause) => {
    const result = { ...report, evidence: { plain: raw }, fingerprint: fingerprint(raw) };
    const kept = turn.then(() => execute(unmatchedStream, result, cause));
    turn = kept.catch(() => undefined);
    await kept;
  };
}

export type ResolveUnmatchedResult = {
  type: 'ResolveUnmatchedResult';
  at: string;
  /** Of a result that is in `gateway-unmatched`. */
  revision: number;
  resolution: UnmatchedResolution;
  note: string;
};

/**
 * On the stream of one result's resolution. Whoever gives the command has loaded the result that it names; no payment is
 * made of the result.
 */
export const unmatchedDecider: Decider<ResolvedUnmatched | null, ResolveUnmatchedResult, UnmatchedEvent> = {
  initial: null,
  read: readUnmatchedEvent,
  evolve: evolveUnmatched,
  decide({ type: _, ...data }, state) {
    if (state?.resolution === data.resolution && state.note === data.note) return [];
    if (state) return new Refused('exception_resolved', 'This result is already resolved');
    return [{ type: 'UnmatchedResultResolved', data }];
  },
};
