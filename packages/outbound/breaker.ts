/**
 * Pauses receivers that are down, so that attempts bound to fail take no slots from others. What is for them keeps its
 * place in the queue. After each pause one attempt is made, and its success ends the pause for all.
 *
 * (The breakers of cockatiel wrap a call and read Date.now; this one limits what is claimed, by the runtime's clock.)
 */
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';

const failuresToPause = 5;
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** Others name the receivers: one that failed long ago, and to which nothing more is sent, must not stay for ever. */
const mostFailing = 10_000;

export type Breaker = ReturnType<typeof createBreaker>;

/** It knows only what this process has seen. */
export function createBreaker(runtime: Pick<Runtime, 'now'>) {
  const failing = new RecentMap<{ failures: number; pausedUntilMs: number }>(mostFailing);
  return {
    record(receiver: string, isDown: boolean): void {
      if (!isDown) {
        failing.delete(receiver);
        return;
      }
      const { failures: before, pausedUntilMs } = failing.get(receiver) ?? { failures: 0, pausedUntilMs: 0 };
      const nowMs = runtime.now().getTime();
      // An attempt that was under way when the pause began gives no new information.
      if (nowMs < pausedUntilMs) return;
      const failures = before + 1;
      const pauseMs = Math.min(firstPauseMs * 2 ** (failures - failuresToPause), longestPauseMs);
      failing.set(receiver, { failures, pausedUntilMs: failures < failuresToPause ? 0 : nowMs + pauseMs });
    },

    /** How many attempts at a time each paused receiver may have: none, or one after its pause. */
    limits(): Map<string, number> {
      const nowMs = runtime.now().getTime();
      return new Map(
        [...failing]
          .filter(([, { failures }]) => failures >= failuresToPause)
          .map(([receiver, { pausedUntilMs }]) => [receiver, pausedUntilMs <= nowMs ? 1 : 0]),
      );
    },
  };
}
