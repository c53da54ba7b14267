/** Erases automatically what is older than RETENTION allows, and completes what another process began to erase. */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { pagesOf } from '@ledger/kernel/pages.ts';
import { earlierBy, type Period } from '@ledger/kernel/period.ts';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import type { Erasure, Erasures } from '@ledger/personal-data/key-store.ts';
import type { ErasureReason } from '@ledger/personal-data/sealed.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import { repeatAsLeader } from '@ledger/postgres/leader-loop.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { findHolding } from '../projections/payments/queries.ts';
import { findUnmatchedHolding } from '../projections/unmatched/queries.ts';
import { type Erase, unmatchedIn, unmatchedSubject } from './erase.ts';

type Dependencies = Pick<Stores, 'db' | 'log' | 'runtime'> & {
  erase: Erase;
  erasures: Pick<Erasures, 'begunBefore'>;
  /** Drops tables that an interrupted rebuild has left and that took no event since. */
  dropLeftovers: (unlessSince: Date) => Promise<unknown>;
  /** Null: nothing is erased for its age. */
  retention: Period | null;
  /** This machine's time of day minus that of `runtime`, which is PostgreSQL's, in milliseconds; null if not known. */
  differenceMs: () => number | null;
};

const pollMs = 60_000;
/** An erasure that began longer ago is not under way any more. */
const staleMs = 60_000;
/** An interrupted rebuild can be continued for as long (content/docs/rebuilding.md). */
const leftoverMs = 3_600_000;
const limit = 100;

/** Nothing is erased that has changed since `unlessSince`. `isLate`: it was begun more than a minute ago. */
type Options = { unlessSince?: Date; isLate?: boolean };

/** Runs until stopped. One process erases, the others stand by. */
export function startRetention(dependencies: Dependencies & { election: LeaderElection }): Background {
  const { election, log, runtime } = dependencies;
  const warn = warnSeldom(log, runtime);
  const onFailure = (error: unknown, failures: number) =>
    warn({ reason: briefReasonOf(error), failures }, 'erasing is interrupted and will be tried again');
  const options = { election, name: 'retention', everyMs: pollMs, runtime, onFailure };
  return repeatAsLeader(options, createRetentionPass(dependencies));
}

/**
 * One pass completes what was begun, erases all that is due, and drops what interrupted rebuilds have left. What cannot be
 * erased is logged and keeps nothing else waiting. Rejects when a store cannot be reached.
 */
export function createRetentionPass(dependencies: Dependencies) {
  const { differenceMs, erase, erasures, dropLeftovers, retention, db, log, runtime } = dependencies;
  async function erasePage(page: readonly Erasure[], options: Options, signal: AbortSignal): Promise<number> {
    const all = await erase(page, options).catch(() => null);
    if (all) return all.length;
    let erased = 0;
    for (const each of page) {
      signal.throwIfAborted();
      try {
        erased += (await erase([each], options)).length;
      } catch (error) {
        if (error instanceof EventStoreUnavailable) throw error;
        log.warn({ subject: each.subject, reason: briefReasonOf(error) }, 'personal data cannot be erased');
      }
    }
    return erased;
  }

  /** `next` gives the page after a subject. */
  async function eraseAll(
    next: (after: string) => Promise<readonly Erasure[]>,
    options: Options,
    signal: AbortSignal,
  ): Promise<void> {
    for await (const page of pagesOf<Erasure>(limit, (last) => next(last?.subject ?? ''))) {
      const erased = await erasePage(page, options, signal);
      if (erased > 0) log.info({ erased }, 'personal data erased');
      if (signal.aborted) return;
    }
  }

  const due = (subjects: readonly string[], reason: ErasureReason): Erasure[] =>
    subjects.map((subject) => ({ subject, reason, actor: 'reactor:retention' }));

  return async (signal: AbortSignal): Promise<void> => {
    const earlier = (ms: number) => new Date(runtime.now().getTime() - ms);
    const stale = earlier(staleMs);
    await eraseAll((after) => erasures.begunBefore(stale, { after, limit }), { isLate: true }, signal);
    // What arrived after an erasure, for example with a late result, is erased, too.
    const again = async (after: string) =>
      due(await findHolding(db, { before: stale, again: true, after, limit }), 'requested');
    await eraseAll(again, { unlessSince: stale }, signal);
    if (retention) {
      // By the clock that is behind: the other one may be wrong, and what is erased is gone.
      const aheadMs = Math.max(0, -(differenceMs() ?? 0));
      const before = earlierBy(earlier(aheadMs), retention);
      const payments = async (after: string) =>
        due(await findHolding(db, { before, again: false, after, limit }), 'retention');
      await eraseAll(payments, { unlessSince: before }, signal);
      const results = async (after: string) => {
        const ids = await findUnmatchedHolding(db, { before, after: unmatchedIn(after) ?? '', limit });
        return due(ids.map(unmatchedSubject), 'retention');
      };
      await eraseAll(results, { unlessSince: before }, signal);
    }
    await dropLeftovers(earlier(leftoverMs));
  };
}
