/** How long the timers of the program take: they may be late, as anywhere. */
import { hour, minute } from '../fault-kinds.ts';
import { deafLeader } from '../faults.ts';
import type { Plan } from '../plan.ts';

/** In calm, a timer takes a sixth of the time since everything healed, within these limits. */
const calmShare = 1 / 6;
const shortestSleepMs = 5 * minute;
export const longestSleepMs = 12 * minute;
/** Of the days of some seeds, most hours are empty: in them, it takes up to an hour. */
const quietSleepMs = hour;
const quietAfterMs = 3 * hour;
const quietBeforeMs = 7 * hour;

/** The times of the plan are counted from `beganMs` on. */
export function createPace(plan: Plan, { beganMs, nowMs }: { beganMs: number; nowMs: () => number }) {
  let calmSinceMs: number | null = null;
  const planned = [...plan.faults.map(({ atMs }) => atMs), plan.healAtMs + plan.calmMs];
  // Looks for the event store every second, for days.
  const deaf = plan.faults.some(({ kind }) => kind === 'deaf-leader') ? deafLeader : null;
  const hasRestore = plan.faults.some(({ kind }) => kind === 'restore');
  // What starts to deliver looks five times a second whether rows of an older log are complete, which they never are.
  const shortMs = (name: string) =>
    name === deaf ? 500 : hasRestore && name.startsWith('reactors') ? 200 : 1_000;

  return {
    isCalm: () => calmSinceMs !== null,
    setCalm(isCalm: boolean): void {
      calmSinceMs = isCalm ? nowMs() : null;
    },
    stretch(ms: number, name: string): number {
      // The pace of the read models is one of the shortest that are longer here.
      if (calmSinceMs === null) return ms < 200 ? ms : ms * plan.stretch;
      if (ms < shortMs(name)) return ms;
      const sleepMs = (nowMs() - calmSinceMs) * calmShare;
      const isQuiet = planned.every(
        (atMs) => nowMs() > beganMs + atMs + quietAfterMs || nowMs() < beganMs + atMs - quietBeforeMs,
      );
      const mostMs = isQuiet ? quietSleepMs : longestSleepMs;
      return Math.max(ms, Math.min(Math.max(sleepMs, shortestSleepMs), mostMs));
    },
  };
}
