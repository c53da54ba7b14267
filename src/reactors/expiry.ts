/** Cancels the payments that nobody has paid before they expired: content/docs/payment-states.md. */
import { pagesOf } from '@ledger/kernel/pages.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { Refused } from '../commands/decider.ts';
import type { ExecutePayment } from '../commands/payment.ts';
import { UnreadableEvent } from '../events/codec.ts';
import { ownCause } from '../events/envelope.ts';
import { paymentStream } from '../events/payment.ts';
import { findExpired } from '../projections/payments/queries.ts';

type Dependencies = Pick<Stores, 'db' | 'log' | 'runtime'> & { execute: ExecutePayment };

const pollMs = 30_000;
const pageSize = 100;

/** Any number of processes may do it: what another has recorded adds nothing. */
export function startExpiry({ db, execute, log, runtime }: Dependencies): Background {
  async function expire(transactionId: string): Promise<void> {
    const cause = ownCause(runtime.uuid(), 'reactor:expiry');
    const at = runtime.now().toISOString();
    try {
      await execute(paymentStream(transactionId), { type: 'CancelPayment', at, source: 'expiry' }, cause);
    } catch (error) {
      // The stream may be ahead of its row, which changes later. An event that cannot be read is reported elsewhere.
      if (!(error instanceof Refused || error instanceof UnreadableEvent)) throw error;
    }
  }
  const expiredAfter = (last: string | null) =>
    findExpired(db, { by: runtime.now(), after: last ?? '', limit: pageSize });
  return runUntilStopped(async (signal) => {
    while (!signal.aborted) {
      try {
        for await (const page of pagesOf(pageSize, expiredAfter)) {
          for (const transactionId of page) await expire(transactionId);
          if (signal.aborted) return;
        }
      } catch (error) {
        log.warn({ reason: briefReasonOf(error) }, 'expired payments cannot be cancelled at the moment');
      }
      await runtime.sleep(pollMs, signal);
    }
  });
}
