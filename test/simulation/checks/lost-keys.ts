/** Whether keys of personal data may be lost after PostgreSQL has gone back: whoever held them may have died. */
import type { Plan } from '../plan.ts';

/** How long a process may take to store its keys again, and first to store those that it keeps ahead. */
const storedAgainWithinMs = 2 * 60_000;
const storedFirstWithinMs = 60_000;

export type Life = { bornMs: number; diedMs: number };

/** The function returned says it of what was sealed at a time. All times are true ones; `beganMs` is that of the plan. */
export function mayLoseKeysOf(
  { faults }: Plan,
  { beganMs, lives }: { beganMs: number; lives: readonly Life[] },
): (sealedMs: number) => boolean {
  const goingBack = faults.flatMap((each) => {
    if (each.kind === 'postgres-failover') return { ...each, ageMs: each.lagMs };
    return each.kind === 'postgres-restore' ? each : [];
  });
  return (sealedMs) =>
    goingBack.some(({ atMs, ageMs, forMs }) => {
      const copiedMs = beganMs + atMs;
      const untilMs = copiedMs + ageMs + forMs + storedAgainWithinMs;
      // What a process keeps ahead from its beginning on is in the copy.
      const isDead = lives.some(
        ({ bornMs, diedMs }) =>
          diedMs >= sealedMs && diedMs <= untilMs && bornMs + storedFirstWithinMs > copiedMs,
      );
      // While a process stands still or is cut off, it stores nothing again.
      const isHeldUp = faults.some(
        (each) =>
          (each.kind === 'pause' ||
            each.kind === 'cut' ||
            each.kind === 'postgres-crash' ||
            each.kind === 'postgres-read-only' ||
            each.kind === 'postgres-full' ||
            each.kind === 'postgres-crowded') &&
          beganMs + each.atMs + each.forMs >= sealedMs &&
          beganMs + each.atMs <= untilMs,
      );
      return isDead || isHeldUp;
    });
}
