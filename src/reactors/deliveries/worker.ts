/**
 * Works through one kind of delivery: claims what is due and attempts it (attempt.ts). Any number of processes may run
 * the same worker. After a crash the lease ends, and another worker continues under the same delivery id.
 */
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import type { DeliveryKind } from '../../events/deliveries.ts';
import type { ClaimedDelivery, DeliveryQueue } from '../../to-do/delivery-queue.ts';
import type { PlacedEvent } from '../../to-do/known-deliveries.ts';
import { type AttemptDependencies, attemptDelivery } from './attempt.ts';
import { createBreaker } from './breaker.ts';
import type { DeliveryOutcome } from './delivery-task.ts';

export type WorkerTask = Pick<AttemptDependencies, 'name' | 'perform'> & { kind: DeliveryKind };

type Dependencies = WorkerTask &
  Omit<AttemptDependencies, 'claimedMs' | 'giveBack' | 'settle' | 'settleLater'> & {
    queue: DeliveryQueue;
    /** The most attempts at a time; a merchant may name any number of receivers, which together get no more than its part. */
    concurrency: { total: number; perReceiver: number; perMerchant: number };
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
/** How long the list has to come to what an attempt recorded before the worker itself settles the row. */
const settleAfterMs = 1_000;

export function startDeliveryWorker(dependencies: Dependencies) {
  const { concurrency, kind, name, queue, ready, runtime, leaseMs = 60_000 } = dependencies;
  const log = dependencies.log.child({ reactor: name });
  const breaker = createBreaker(runtime);
  const unsettled = new Map<ClaimedDelivery, readonly PlacedEvent[]>();
  let settling: Promise<void> | undefined;
  const attempts = new Map<Promise<void>, ClaimedDelivery>();
  /** The attempts that were under way at the last claim, and those that it began. Some may have ended since. */
  let placesTaken: readonly ClaimedDelivery[] = [];
  const interrupting = new AbortController();
  let wakeUp = new AbortController();
  const stopping = new AbortController();
  const ofAttempts = { ...dependencies, log, giveBack, settle, settleLater };

  async function work(): Promise<void> {
    await ready;
    while (!stopping.signal.aborted) {
      const claimedMs = runtime.monotonicMs();
      for (const claimed of await claim()) begin(claimed, claimedMs);
      if (!stopping.signal.aborted) await runtime.sleep(pollMs, wakeUp.signal);
      wakeUp = new AbortController();
    }
  }

  async function claim(): Promise<ClaimedDelivery[]> {
    const { total, perReceiver, perMerchant } = concurrency;
    const underWay = [...attempts.values()];
    const limit = total - underWay.length;
    if (limit === 0) return [];
    const now = runtime.now();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const receivers = underWay.map(({ receiver }) => receiver);
    const merchants = underWay.map(({ merchantCode }) => merchantCode);
    const limits = {
      limitPerReceiver: perReceiver,
      receiverLimits: remaining(receivers, perReceiver, breaker.limits()),
      limitPerMerchant: perMerchant,
      merchantLimits: remaining(merchants, perMerchant),
    };
    const holder = runtime.uuid();
    const claimed = await queue.claim({ kind, now, leaseUntil, holder, limit, ...limits }).catch((error) => {
      log.warn({ reason: reasonOf(error) }, 'no deliveries can be claimed for now');
      return [];
    });
    placesTaken = [...underWay, ...claimed];
    return claimed;
  }

  function begin(claimed: ClaimedDelivery, claimedMs: number): void {
    const its = { ...ofAttempts, claimedMs };
    const attempt = attemptDelivery(claimed, interrupting.signal, its).then((outcome) => {
      const hadNoRoom = hasNoRoom(claimed);
      if (outcome) dependencies.countAttempt?.(kind, outcome.kind);
      if (outcome) breaker.record(claimed.receiver, outcome.kind === 'failed' && outcome.isReceiverDown);
      attempts.delete(attempt);
      if (hadNoRoom) wakeUp.abort();
    });
    attempts.set(attempt, claimed);
  }

  /** Whether the last claim may have left something for want of places, so that the end of an attempt makes room for it. */
  function hasNoRoom({ receiver, merchantCode }: ClaimedDelivery): boolean {
    const { total, perReceiver, perMerchant } = concurrency;
    const atReceiver = placesTaken.filter((each) => each.receiver === receiver).length;
    const ofMerchant = placesTaken.filter((each) => each.merchantCode === merchantCode).length;
    const limit = breaker.limits().get(receiver) ?? perReceiver;
    return placesTaken.length >= total || atReceiver >= limit || ofMerchant >= perMerchant;
  }

  async function giveBack(claimed: ClaimedDelivery, afterMs: number): Promise<void> {
    const until = new Date(runtime.now().getTime() + afterMs);
    // If this fails, the lease ends by itself.
    await queue.postpone(claimed, until).catch(() => {});
    if (afterMs === 0) wakeUp.abort();
  }

  async function settle(claimed: ClaimedDelivery, stream: readonly PlacedEvent[]): Promise<void> {
    // If this fails, the list does it when it comes to the last event.
    await queue.settle(claimed, stream).catch(() => {});
  }

  function settleLater(claimed: ClaimedDelivery, stream: readonly PlacedEvent[]): void {
    unsettled.set(claimed, stream);
    settling ??= settleLeft();
  }

  /** Usually the list comes to the end of a stream within milliseconds: only the rows that it leaves are written. */
  async function settleLeft(): Promise<void> {
    await runtime.sleep(settleAfterMs, stopping.signal);
    const waiting = new Map(unsettled);
    unsettled.clear();
    settling = undefined;
    const left = await queue.stillHeld([...waiting.keys()]).catch(() => []);
    await Promise.all(left.map((row) => settle(row, waiting.get(row) ?? [])));
  }

  const working = work();
  return {
    /** Looks for work now, because something became due. */
    wake: () => wakeUp.abort(),
    /** Claims nothing more, and gives the attempts under way ten seconds before it interrupts them. */
    async stop(): Promise<void> {
      stopping.abort();
      wakeUp.abort();
      await working;
      const cancelTimer = runtime.setTimer(drainMs, () => interrupting.abort());
      await Promise.all(attempts.keys());
      await settling;
      cancelTimer();
    },
  };
}

/** How many more each receiver or merchant may have besides the attempts under way; `limits` has some already. */
function remaining(names: readonly string[], usual: number, limits = new Map<string, number>()) {
  for (const name of names) limits.set(name, Math.max(0, (limits.get(name) ?? usual) - 1));
  return limits;
}
