/** Whether keys of personal data may be lost after a failover of PostgreSQL: whoever held them may have died. */
import type { Plan } from '../plan.ts';

/** How long a process may take to store its keys again after a failover. */
const storedAgainWithinMs = 2 * 60_000;

/** The function returned says it of what was sealed at a time. All times are true ones; `beganMs` is that of the plan. */
export function mayLoseKeysOf(
  { faults }: Plan,
  { beganMs, deathsMs }: { beganMs: number; deathsMs: readonly number[] },
): (sealedMs: number) => boolean {
  const failovers = faults.filter((fault) => fault.kind === 'postgres-failover');
  return (sealedMs) =>
    failovers.some(({ atMs, lagMs, forMs }) => {
      const untilMs = beganMs + atMs + lagMs + forMs + storedAgainWithinMs;
      const isDead = deathsMs.some((diedMs) => diedMs >= sealedMs && diedMs <= untilMs);
      // While a process stands still or is cut off, it stores nothing again.
      const isHeldUp = faults.some(
        (each) =>
          (each.kind === 'pause' || each.kind === 'cut' || each.kind === 'postgres-crash') &&
          beganMs + each.atMs + each.forMs >= sealedMs &&
          beganMs + each.atMs <= untilMs,
      );
      return isDead || isHeldUp;
    });
}
