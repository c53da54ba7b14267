/** What staff may say of a gateway result that no payment took. The event is in src/events/unmatched.ts. */
import type { Cause } from '../events/envelope.ts';
import {
  evolveUnmatched,
  type ResolvedUnmatched,
  resolutionStream,
  type UnmatchedEvent,
  type UnmatchedResolution,
  unmatchedStream,
} from '../events/unmatched.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type Decider, Refused } from './decider.ts';
import type { Execute } from './execute.ts';

export type ResolveUnmatchedResult = {
  type: 'ResolveUnmatchedResult';
  at: string;
  /** Of the result in `gateway-unmatched`. */
  revision: number;
  resolution: UnmatchedResolution;
  note: string;
};

export const unmatchedDecider: Decider<ResolvedUnmatched | null, ResolveUnmatchedResult, UnmatchedEvent> = {
  initial: null,
  evolve: evolveUnmatched,
  decide({ type: _, ...data }, state) {
    if (state?.resolution === data.resolution && state.note === data.note) return [];
    if (state) return new Refused('exception_resolved', 'This result is already resolved');
    return [{ type: 'UnmatchedResultResolved', data }];
  },
};

/** Throws Refused, also where there is no such result, and EventStoreUnavailable. No payment is made of the result. */
export type ResolveUnmatched = (command: ResolveUnmatchedResult, cause: Cause) => Promise<void>;

/** `execute` is that of `unmatchedDecider`. */
export function createResolveUnmatched({
  eventStore,
  execute,
}: {
  eventStore: Pick<EventStore, 'load'>;
  execute: Execute<ResolvedUnmatched | null, ResolveUnmatchedResult, UnmatchedEvent>;
}): ResolveUnmatched {
  return async (command, cause) => {
    const { revision } = command;
    const [result] = await eventStore.load(unmatchedStream, revision, 1);
    if (!result) throw new Refused('unknown_exception', 'There is no such unmatched result');
    await execute(resolutionStream(revision), command, cause);
  };
}
