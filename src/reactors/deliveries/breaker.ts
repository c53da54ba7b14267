/**
 * Pauses receivers that are down, so that tries that would fail anyway take nobody's place. Their deliveries stay in
 * the queue as they are; after each pause one is tried, and its success lets the others go.
 */

const failuresToPause = 5;
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;

type Trouble = { failures: number; pausedUntilMs: number };

export type Breaker = ReturnType<typeof createBreaker>;

/** Knows what this process has seen; `clock` is asked for the time. */
export function createBreaker(clock: () => Date) {
  const troubled = new Map<string, Trouble>();
  return {
    record(receiver: string, isDown: boolean): void {
      if (!isDown) {
        troubled.delete(receiver);
        return;
      }
      const trouble = troubled.get(receiver) ?? { failures: 0, pausedUntilMs: 0 };
      const nowMs = clock().getTime();
      // Tries that were under way when the pause began say nothing new.
      if (nowMs < trouble.pausedUntilMs) return;
      const failures = trouble.failures + 1;
      const pauseMs = Math.min(firstPauseMs * 2 ** (failures - failuresToPause), longestPauseMs);
      troubled.set(receiver, {
        failures,
        pausedUntilMs: failures < failuresToPause ? 0 : nowMs + pauseMs,
      });
    },

    /** How many tries at a time each receiver that is being held back may have: none, or one to probe it. */
    limits(): Map<string, number> {
      const nowMs = clock().getTime();
      return new Map(
        [...troubled]
          .filter(([, { failures }]) => failures >= failuresToPause)
          .map(([receiver, { pausedUntilMs }]) => [receiver, pausedUntilMs <= nowMs ? 1 : 0]),
      );
    },
  };
}
