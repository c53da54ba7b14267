/**
 * Erases by itself: what is older than RETENTION allows, and what another process began to erase and did not complete.
 */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { earlierBy, type Period } from '../kernel/period.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import { retry } from '../kernel/retry.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { withLeaderLock } from '../postgres/leader-lock.ts';
import { findHoldingBefore } from '../projections/payments/queries.ts';
import type { Erase } from './erase.ts';
import type { Erasures } from './erasures.ts';

type Dependencies = {
  erase: Erase;
  erasures: Pick<Erasures, 'begunBefore'>;
  /** Null: nothing is erased for its age. */
  retention: Period | null;
  db: Knex;
  log: Logger;
  runtime: Runtime;
};

const pollMs = 60_000;
/** An erasure that began longer ago is not under way any more. */
const staleMs = 60_000;
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

/** One pass completes what was begun, and erases all that is due. Rejects with the error of a store. */
export function createRetentionPass({ erase, erasures, retention, db, log, runtime }: Dependencies) {
  return async (signal: AbortSignal): Promise<void> => {
    const stale = new Date(runtime.now().getTime() - staleMs);
    const begun = await erasures.begunBefore(stale, pageSize);
    if (begun.length > 0) {
      await erase(begun);
      log.info({ payments: begun.length }, 'completed erasures that were interrupted');
    }
    if (!retention) return;
    const before = earlierBy(runtime.now(), retention);
    let after = '';
    while (!signal.aborted) {
      const due = await findHoldingBefore(db, { before, after, limit: pageSize });
      const erased = await erase(
        due.map((transactionId) => ({ transactionId, reason: 'retention', actor: 'reactor:retention' })),
        { unlessSince: before },
      );
      if (erased.length > 0) log.info({ payments: erased.length }, 'personal data erased by retention');
      after = due.at(-1) ?? after;
      if (due.length < pageSize) return;
    }
  };
}
