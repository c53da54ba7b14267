/** Checks of the daily verification: that it runs once a day, and finds what is wrong and nothing else. */
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import { day, hour, minute } from '../fault-kinds.ts';
import type { FaultKind, Plan } from '../plan.ts';
import type { Report } from '../violations.ts';
import type { LogCheck } from './log.ts';

type Violations = VerifyReport['violations'];
type Run = { beganMs: number; atMs: number; violations: Violations };

/** What staff have before them, and the program cannot mend. */
export const kindsForStaff = ['unreadable events', 'parked streams', 'shared numbers'];

/** The program looks every 12 minutes in calm, and tries again after ten. */
const withinMs = hour;

export function createVerifiedCheck({
  plan,
  startMs,
  log,
  report,
  nowMs,
  deathsMs,
}: {
  plan: Plan;
  startMs: number;
  log: LogCheck;
  report: Report;
  nowMs: () => number;
  deathsMs: () => readonly number[];
}) {
  const runs: Run[] = [];
  const has = (...kinds: readonly FaultKind[]) => plan.faults.some(({ kind }) => kinds.includes(kind));
  // The last result among them.
  const losesRows = has('postgres-failover', 'postgres-restore');
  const unreadable = () => {
    log.look();
    return [...log.payments].some(([, { isUnreadable }]) => isUnreadable);
  };

  function checkRun({ violations }: Run, wasUnreadable: boolean): void {
    const kinds = violations.map(({ kind }) => String(kind));
    if (wasUnreadable && !kinds.includes('unreadable events'))
      report('verify-blind', 'daily', 'It does not tell of an event that nobody can read');
    // Names may be lost then, and rows be those of another log; `ledger verify` at the end says which.
    if (losesRows || has('restore', 'unreadable')) return;
    // The pause of the sealer, ten minutes, is as much longer as others if it began before everything had healed.
    const sealedByMs = startMs + plan.healAtMs + (plan.stretch + 1) * 10 * minute;
    const isSealedLate = (text: string) => text.endsWith('are not sealed') && nowMs() < sealedByMs;
    for (const { kind, first } of violations)
      if (!kindsForStaff.includes(kind) && !isSealedLate(first)) report('verify-cries-wolf', kind, first);
  }

  return {
    begin(): (report: VerifyReport) => void {
      const beganMs = nowMs();
      const wasUnreadable = unreadable();
      return ({ violations }) => {
        const run = { beganMs, atMs: nowMs(), violations };
        runs.push(run);
        checkRun(run, wasUnreadable);
      };
    },

    /** `shown` is what staff see, `found` what `ledger verify` finds now. */
    check(shown: { violations: Violations } | null, found: readonly { kind: string }[]): void {
      const { verifyAfterMs } = plan;
      if (verifyAfterMs === undefined) return;
      const endMs = nowMs();
      for (let dueMs = startMs + verifyAfterMs; dueMs < endMs; dueMs += day) {
        const those = runs.filter(({ atMs }) => atMs >= dueMs && atMs < dueMs + day);
        // Who was started since then waits for the next day, if nothing was verified before.
        const isFirst = !runs.some(({ atMs }) => atMs < dueMs + day);
        const isExcused = isFirst && deathsMs().some((atMs) => atMs >= dueMs && atMs < dueMs + day);
        const healedMs = startMs + plan.healAtMs;
        if (those.length === 0 && Math.max(dueMs, healedMs) < endMs - withinMs && !isExcused)
          report('verify-missed', 'daily', `It was due at ${new Date(dueMs).toISOString()}`);
        if (those.length > 1 && !losesRows)
          report('verify-twice', 'daily', `It ran ${those.length} times on the same day`);
      }
      const last = runs.at(-1);
      if (!last) return;
      if (!losesRows && JSON.stringify(shown?.violations) !== JSON.stringify(last.violations))
        report('verify-missed', 'shown', 'Staff do not see what it found last');
      const restoredMs = Math.max(...plan.faults.map(({ kind, atMs }) => (kind === 'restore' ? atMs : -day)));
      const isWrong = found.some(({ kind }) => !kindsForStaff.includes(kind));
      const isAfter = last.beganMs > startMs + restoredMs + 10 * minute && restoredMs >= 0;
      if (isAfter && isWrong && last.violations.length === 0)
        report('verify-blind', 'daily', 'It does not tell that the log is an older one');
    },
  };
}
