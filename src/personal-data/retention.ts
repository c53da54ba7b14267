/**
 * Erases by itself: what is older than RETENTION allows, and what another process began to erase and did not complete.
 */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { ErasureReason } from '../events/personal-data.ts';
import { EventStoreUnavailable } from '../eventstore/event-store.ts';
import { earlierBy, type Period } from '../kernel/period.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import { retry } from '../kernel/retry.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { withLeaderLock } from '../postgres/leader-lock.ts';
import { findHolding } from '../projections/payments/queries.ts';
import type { Erase } from './erase.ts';
import type { Erasure, Erasures } from './key-store.ts';

type Dependencies = {
  erase: Erase;
  erasures: Pick<Erasures, 'begunBefore'>;
  /** Drops tables that an interrupted rebuild has left and that took no event since. */
  dropLeftovers: (unlessSince: Date) => Promise<void>;
  /** Null: nothing is erased for its age. */
  retention: Period | null;
  db: Knex;
  log: Logger;
  runtime: Runtime;
};

const pollMs = 60_000;
/** An erasure that began longer ago is not under way any more. */
const staleMs = 60_000;
/** An interrupted rebuild can be continued for as long (content/docs/rebuilding.md). */
const leftoverMs = 3_600_000;
const pageSize = 100;

/** Runs until stopped. One process erases, the others stand by. */
export function startRetention(dependencies: Dependencies & { databaseUrl: string }) {
  const { databaseUrl, log, runtime } = dependencies;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pass = createRetentionPass(dependencies);
  const running = retry(
    (onProgress) =>
      withLeaderLock({ databaseUrl, name: 'retention', runtime, signal }, async (leading) => {
        while (!leading.aborted) {
          await pass(leading);
          onProgress();
          await runtime.sleep(pollMs, leading);
        }
      }),
    {
      runtime,
      signal,
      longestMs: pollMs,
      onFailure: (error, failures) =>
        log.warn({ reason: reasonOf(error), failures }, 'erasing by retention is interrupted'),
    },
  ).catch((err) => {
    if (!signal.aborted) log.error({ err }, 'erasing by retention has ended');
  });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * One pass completes what was begun, erases all that is due, and drops what interrupted rebuilds have left. What cannot be
 * erased is logged and keeps nothing else waiting. Rejects when a store cannot be reached.
 */
export function createRetentionPass({
  erase,
  erasures,
  dropLeftovers,
  retention,
  db,
  log,
  runtime,
}: Dependencies) {
  async function eraseAll(
    asked: readonly Erasure[],
    options: { unlessSince?: Date },
    signal: AbortSignal,
  ): Promise<number> {
    try {
      return (await erase(asked, options)).length;
    } catch (error) {
      if (error instanceof EventStoreUnavailable) throw error;
    }
    let erased = 0;
    for (const each of asked) {
      signal.throwIfAborted();
      try {
        erased += (await erase([each], options)).length;
      } catch (error) {
        if (error instanceof EventStoreUnavailable) throw error;
        const { transactionId } = each;
        log.warn(
          { transactionId, reason: reasonOf(error) },
          'the personal data of a payment cannot be erased',
        );
      }
    }
    return erased;
  }

  async function eraseHolding(
    filter: { before: Date; again: boolean },
    reason: ErasureReason,
    signal: AbortSignal,
  ): Promise<void> {
    let due: string[] = [];
    do {
      due = await findHolding(db, { ...filter, after: due.at(-1) ?? '', limit: pageSize });
      const asked = due.map((transactionId) => ({ transactionId, reason, actor: 'reactor:retention' }));
      const payments = await eraseAll(asked, { unlessSince: filter.before }, signal);
      if (payments > 0) log.info({ payments, reason }, 'personal data erased');
    } while (due.length === pageSize && !signal.aborted);
  }

  return async (signal: AbortSignal): Promise<void> => {
    const earlier = (ms: number) => new Date(runtime.now().getTime() - ms);
    const begun = await erasures.begunBefore(earlier(staleMs), pageSize);
    if (begun.length > 0) {
      await eraseAll(begun, {}, signal);
      log.info({ payments: begun.length }, 'completed erasures that were interrupted');
    }
    // What arrived after an erasure, such as with a late result, goes the same way.
    await eraseHolding({ before: earlier(staleMs), again: true }, 'requested', signal);
    if (retention)
      await eraseHolding({ before: earlierBy(runtime.now(), retention), again: false }, 'retention', signal);
    await dropLeftovers(earlier(leftoverMs));
  };
}
