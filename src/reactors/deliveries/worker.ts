/**
 * Works off one kind of delivery: claims what is due, tries it, records how it ended. Any number of processes may run
 * the same reactor. A crash leaves a lease that ends, and the work is taken up again under the same id.
 */
import { randomUUID } from 'node:crypto';
import type { DeliveryKind } from '../../events/deliveries.ts';
import type { Claim, ClaimedDelivery, DeliveryQueue } from '../../projections/deliveries/queue.ts';
import {
  findDue,
  findInterrupted,
  loadClaim,
  recordInterrupted,
  type TryDependencies,
  tryDelivery,
} from './attempt.ts';
import { createBreaker } from './breaker.ts';

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

/** Hundreds of tries wait for answers at the cost of a socket each; one receiver, one merchant get a small part. */
const maxTries = 256;
const maxTriesPerReceiver = 8;
/** A merchant names its receivers itself: any number of them take no more than this together. */
const maxTriesPerMerchant = 32;
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
    return await queue.claim({
      kind,
      now,
      leaseUntil,
      holder,
      limit,
      limitPerReceiver: maxTriesPerReceiver,
      limitPerMerchant: maxTriesPerMerchant,
      ...limits(),
    });
  }

  /** How many more tries each receiver and each merchant may have, where that is not the usual number. */
  function limits(): Pick<Claim, 'receiverLimits' | 'merchantLimits'> {
    const receiverLimits = breaker.limits();
    const merchantLimits = new Map<string, number>();
    for (const { receiver, merchantCode } of tries.values()) {
      takeOne(receiverLimits, receiver, maxTriesPerReceiver);
      takeOne(merchantLimits, merchantCode, maxTriesPerMerchant);
    }
    return { receiverLimits, merchantLimits };
  }

  function begin(claimed: ClaimedDelivery): void {
    const trying = attempt(claimed).finally(() => {
      tries.delete(trying);
      alarm.ring();
    });
    tries.set(trying, claimed);
  }

  /**
   * Never rejects. A claim that is not given back ends when its outcome is projected, or with its lease: the next one
   * then takes it that a try of this delivery was begun.
   */
  async function attempt(claimed: ClaimedDelivery): Promise<void> {
    let isBegun = false;
    try {
      const loaded = await loadClaim(claimed, dependencies);
      const interrupted = loaded && findInterrupted(claimed, loaded);
      if (interrupted) {
        await recordInterrupted(interrupted, dependencies);
        return;
      }
      const due = loaded && (await findDue(claimed, loaded, dependencies));
      if (!due || cutting.signal.aborted) {
        await giveBack(claimed, cutting.signal.aborted ? 0 : postponeMs);
        return;
      }
      isBegun = true;
      const outcome = await tryDelivery(due, cutting.signal, { ...dependencies, log });
      breaker.record(claimed.receiver, outcome.kind === 'failed' && outcome.isReceiverDown);
    } catch (error) {
      const { transactionId, orderingKey } = claimed;
      log.error(
        { err: error, transactionId, orderingKey, isBegun },
        'a delivery could not be tried, or recorded',
      );
      // One that was taken over keeps its mark: that a try was cut off is still to be recorded.
      if (!isBegun && claimed.interrupted === null) await giveBack(claimed, postponeMs);
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

function takeOne(left: Map<string, number>, name: string, usual: number): void {
  left.set(name, Math.max(0, (left.get(name) ?? usual) - 1));
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
