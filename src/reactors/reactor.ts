/**
 * Works off one kind of delivery: claims what is due, tries it, records how it ended. Any number of processes may run
 * the same reactor. A crash leaves a lease that ends, and the work is taken up again under the same id.
 */
import { randomUUID } from 'node:crypto';
import type { DeliveryKind } from '../events/deliveries.ts';
import type { ClaimedDelivery, DeliveryQueue } from '../projections/deliveries-queries.ts';
import { createBreaker } from './breaker.ts';
import { findDue, recordLostTry, type TryDependencies, tryDelivery } from './try-delivery.ts';

export type Reactor = {
  /** Looks for work now: something is said to be due. */
  wake(): void;
  /** Claims nothing more, lets tries under way end for a while, then gives back what is left. */
  stop(): Promise<void>;
};

type Dependencies = TryDependencies & {
  kind: DeliveryKind;
  queue: DeliveryQueue;
  /** How long a try has its delivery to itself: longer than a try can take. */
  leaseMs?: number;
};

/** Hundreds of tries wait for answers at the cost of a socket each; one receiver gets a small part of them. */
const maxTries = 256;
const maxTriesPerReceiver = 8;
/** How often it looks for work unasked: for tries again, and where an announcement was missed. */
const pollMs = 1_000;
const drainMs = 10_000;
/** Until a try that could not even begin is taken up again. */
const postponeMs = 5_000;

export function startReactor(dependencies: Dependencies): Reactor {
  const { name, kind, queue, clock, leaseMs = 60_000 } = dependencies;
  const log = dependencies.log.child({ reactor: name });
  const holder = randomUUID();
  const breaker = createBreaker(clock);
  const tries = new Map<Promise<void>, ClaimedDelivery>();
  const cutting = new AbortController();
  const alarm = createAlarm();
  let stopping = false;

  async function work(): Promise<void> {
    while (!stopping) {
      const claimed = await claim().catch((error) => {
        log.warn({ reason: error?.code ?? error?.message }, 'no deliveries can be claimed for now');
        return [];
      });
      for (const each of claimed) begin(each);
      if (!stopping) await alarm.wait(pollMs);
    }
  }

  async function claim(): Promise<ClaimedDelivery[]> {
    const limit = maxTries - tries.size;
    if (limit === 0) return [];
    const now = clock();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const limitPerReceiver = maxTriesPerReceiver;
    return await queue.claim({ kind, now, leaseUntil, holder, limit, limitPerReceiver, limits: limits() });
  }

  /** How many more tries each receiver may have, where that is not the usual number. */
  function limits(): Map<string, number> {
    const left = breaker.limits();
    for (const { receiver } of tries.values())
      left.set(receiver, Math.max(0, (left.get(receiver) ?? maxTriesPerReceiver) - 1));
    return left;
  }

  function begin(claimed: ClaimedDelivery): void {
    const trying = attempt(claimed).finally(() => {
      tries.delete(trying);
      alarm.ring();
    });
    tries.set(trying, claimed);
  }

  /** Never rejects. A claim that is not given back ends when its outcome is projected, or with its lease. */
  async function attempt(claimed: ClaimedDelivery): Promise<void> {
    let isBegun = false;
    try {
      const due = await findDue(claimed, { ...dependencies, log });
      if (!due) return;
      if (claimed.isTakenOver) {
        await recordLostTry(due, dependencies);
        return;
      }
      isBegun = true;
      const outcome = await tryDelivery(due, cutting.signal, { ...dependencies, log });
      if (outcome.kind === 'failed' && cutting.signal.aborted) await giveBack(claimed, 0);
      else breaker.record(claimed.receiver, outcome.kind === 'failed' && outcome.isReceiverDown);
    } catch (error) {
      const { transactionId, lane } = claimed;
      log.error({ err: error, transactionId, lane, isBegun }, 'a delivery could not be tried, or recorded');
      // One that was taken over keeps its mark: that a try was cut off is still to be recorded.
      if (!isBegun && !claimed.isTakenOver) await giveBack(claimed, postponeMs);
    }
  }

  async function giveBack(claimed: ClaimedDelivery, afterMs: number): Promise<void> {
    const until = new Date(clock().getTime() + afterMs);
    // Where that fails the lease ends by itself.
    await queue.postpone(claimed, holder, until).catch(() => {});
  }

  const working = work();
  return {
    wake: alarm.ring,
    async stop() {
      stopping = true;
      alarm.ring();
      await working;
      const impatience = setTimeout(() => cutting.abort(), drainMs);
      await Promise.all(tries.keys());
      clearTimeout(impatience);
    },
  };
}

/** Something to wait on that is not missed when it rings while nobody waits. */
function createAlarm() {
  let rung = false;
  let wakeUp = () => {};
  return {
    ring(): void {
      rung = true;
      wakeUp();
    },
    async wait(ms: number): Promise<void> {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
    },
  };
}
