/**
 * Works through one kind of delivery: claims what is due, as far as there are slots (attempt-slots.ts), attempts each
 * (attempt.ts), and then releases its row. Any number of processes may run the same worker. After a crash the lease ends,
 * and another worker continues under the same delivery id.
 */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { createBreaker } from '@ledger/outbound/breaker.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { DeliveryKind } from '../../events/deliveries.ts';
import type { ClaimedDelivery, DeliveryQueue } from '../../to-do/delivery-queue.ts';
import type { PlacedEvent } from '../../to-do/known-deliveries.ts';
import { type AttemptDependencies, attemptDelivery, type RowEnd } from './attempt.ts';
import { type Concurrency, createAttemptSlots } from './attempt-slots.ts';
import type { DeliveryOutcome } from './delivery-task.ts';

export type WorkerTask = Pick<AttemptDependencies, 'name' | 'perform'> & { kind: DeliveryKind };

type Dependencies = WorkerTask &
  Omit<AttemptDependencies, 'warn'> & {
    queue: DeliveryQueue;
    concurrency: Concurrency;
    /** Told of each attempt. */
    countAttempt?: ((kind: DeliveryKind, outcome: DeliveryOutcome['kind']) => void) | undefined;
    /** Nothing is claimed before it resolves: the list must know what was delivered already. */
    ready?: Promise<unknown>;
    /** Longer than an attempt can take. */
    leaseMs?: number;
  };

/** How often it polls, for retries that become due. */
const pollMs = 1_000;
const drainMs = 10_000;
/** How long rows of recorded attempts are gathered, to be looked at together. */
const gatherMs = 1_000;
/** How long the list then has to reach the recorded events before the worker itself settles the rows. */
const settleAfterMs = 3_000;

export function startDeliveryWorker(dependencies: Dependencies) {
  const { concurrency, countAttempt, kind, name, queue, ready, runtime, leaseMs = 60_000 } = dependencies;
  const log = dependencies.log.child({ reactor: name });
  const breaker = createBreaker(runtime);
  const slots = createAttemptSlots(kind, concurrency, breaker);
  const attempts = new Map<ClaimedDelivery, Promise<void>>();
  const warn = warnSeldom(log, runtime);
  const interrupting = new AbortController();
  const stopping = new AbortController();
  // A promise and no signal, because each abort makes an error with its stack.
  let wakeUp = Promise.withResolvers<void>();
  const wake = () => wakeUp.resolve();
  const { release, settled } = createRelease(queue, runtime, stopping.signal, wake);

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      const claimedMs = runtime.monotonicMs();
      for (const claimed of await claim()) attempts.set(claimed, attempt(claimed, claimedMs));
      await wakeUp.promise;
      wakeUp = Promise.withResolvers();
    }
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runtime.sleep(pollMs, stopping.signal);
      wake();
    }
  }

  async function claim(): Promise<ClaimedDelivery[]> {
    const underWay = [...attempts.keys()];
    const limits = slots.left(underWay);
    if (limits.limit === 0) return [];
    const now = runtime.now();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const holder = runtime.uuid();
    const claimed = await queue.claim({ kind, now, leaseUntil, holder, ...limits }).catch((error) => {
      warn({ reason: briefReasonOf(error) }, 'no deliveries can be claimed for now');
      return [];
    });
    slots.take([...underWay, ...claimed]);
    return claimed;
  }

  async function attempt(claimed: ClaimedDelivery, claimedMs: number): Promise<void> {
    const limits = { claimedMs, stopping: interrupting.signal };
    const { outcome, row } = await attemptDelivery(claimed, limits, { ...dependencies, log, warn });
    await release(claimed, row);
    const lackedSlots = slots.lackedFor(claimed);
    if (outcome) countAttempt?.(kind, outcome.kind);
    if (outcome) breaker.record(slots.pausedAs(claimed), outcome.kind === 'failed' && outcome.isReceiverDown);
    attempts.delete(claimed);
    if (lackedSlots) wake();
  }

  const working = Promise.resolve(ready).then(() => Promise.all([work(), poll()]));
  return {
    /** Looks for work now, because something became due. */
    wake,
    /** Claims nothing more, and gives the attempts under way ten seconds before it interrupts them. */
    async stop(): Promise<void> {
      stopping.abort();
      wake();
      await working;
      const cancelTimer = runtime.setTimer(drainMs, () => interrupting.abort());
      await Promise.all(attempts.values());
      await settled();
      cancelTimer();
    },
  };
}

/**
 * Completes a claimed row after its attempt; `wake` is called when it can be claimed again immediately.
 * Nothing here rejects: if PostgreSQL does not answer, a lease ends by itself, and the list reaches the last event
 * later.
 */
function createRelease(queue: DeliveryQueue, runtime: Runtime, stopping: AbortSignal, wake: () => void) {
  let unsettled = new Map<ClaimedDelivery, readonly PlacedEvent[]>();
  let settled = Promise.resolve();

  /** Usually the list comes to the end of a stream within milliseconds: only the rows that it leaves are written. */
  async function settleLeft(): Promise<void> {
    await runtime.sleep(gatherMs, stopping);
    const waiting = unsettled;
    unsettled = new Map();
    await runtime.sleep(settleAfterMs, stopping);
    const left = await queue.stillHeld([...waiting.keys()]).catch(() => []);
    await Promise.all(left.map((row) => queue.settle(row, waiting.get(row) ?? []).catch(() => {})));
  }

  return {
    async release(claimed: ClaimedDelivery, row: RowEnd): Promise<void> {
      if (row.kind === 'kept') return;
      if (row.kind === 'recorded') {
        const isFirst = unsettled.size === 0;
        unsettled.set(claimed, row.stream);
        if (isFirst) settled = Promise.all([settled, settleLeft()]).then(() => undefined);
        return;
      }
      if (row.stream) await queue.settle(claimed, row.stream).catch(() => {});
      const until = new Date(runtime.now().getTime() + row.afterMs);
      await queue.postpone(claimed, until).catch(() => {});
      if (row.afterMs === 0) wake();
    },
    /** Resolves when the rows of all recorded attempts are settled. */
    settled: () => settled,
  };
}
