/** Gateway results that match no payment: how the quarantine keeps them, and how staff resolve one. */
import { readUnmatchedEvent, readUnmatchedResult } from '../events/codec.ts';
import type { Cause } from '../events/envelope.ts';
import type { ReceivedFields } from '../events/personal-data.ts';
import {
  evolveUnmatched,
  type GatewayResultUnmatched,
  type QuarantineEvent,
  quarantineStream,
  type ResolvedUnmatched,
  type UnmatchedEvent,
  type UnmatchedResolution,
} from '../events/unmatched.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute, type SealEvents } from './execute.ts';
import type { Fingerprint } from './fingerprint.ts';

/**
 * A payment has at most so many results in quarantine: more different ones of one payment come from no gateway in order,
 * and each is an exception for staff.
 */
const maxPerStream = 20;

/** Decided from all results of the stream: one that is there already adds nothing. */
const quarantineDecider: Decider<readonly GatewayResultUnmatched[], GatewayResultUnmatched, QuarantineEvent> =
  {
    initial: [],
    read: readUnmatchedResult,
    evolve: (kept, { data }) => [...kept, data],
    decide(result, kept) {
      const isKnown = kept.some(({ fingerprint }) => fingerprint === result.fingerprint);
      // What is acknowledged to the gateway must be kept.
      const isFull = kept.length >= maxPerStream && result.reason !== 'unreadable_payment';
      return isKnown || isFull ? [] : [{ type: 'GatewayResultUnmatched', data: result }];
    },
  };

/** `raw` is every field as received. */
export type UnmatchedReport = Omit<GatewayResultUnmatched, 'evidence' | 'fingerprint'> & {
  raw: ReceivedFields;
};

/** Stores a new result permanently. Throws EventStoreUnavailable and KeysUnavailable. */
export type Quarantine = (report: UnmatchedReport, cause: Cause) => Promise<void>;

export function createQuarantine({
  eventStore,
  seal,
  fingerprint,
}: {
  eventStore: Pick<EventStore, 'append' | 'load'>;
  seal: SealEvents;
  fingerprint: Fingerprint;
}): Quarantine {
  const execute = createExecute({ eventStore, seal, decider: quarantineDecider });
  return async ({ raw, ...report }, cause) => {
    const { channel } = report;
    const content = fingerprint(raw);
    const named = Object.entries(raw).find(([name]) => name.toUpperCase() === 'TRANS_ID')?.[1] ?? '';
    const subject = fingerprint(named === '' ? { channel, content } : { channel, transactionId: named });
    const result = { ...report, evidence: { plain: raw }, fingerprint: content };
    await execute(quarantineStream(subject), result, cause);
  };
}

export type ResolveUnmatchedResult = {
  type: 'ResolveUnmatchedResult';
  at: string;
  /** Of a result in the quarantine, in its stream. */
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
