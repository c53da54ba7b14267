/** Lets some seeds begin shortly before a day ends, in Malaysia or in UTC, and with it at times a month or a year. */
import type { Random } from './engine/random.ts';
import type { Plan } from './plan.ts';

/** 09:00 in Malaysia on an ordinary Friday. */
const usualStart = '2026-11-20T01:00:00.000Z';
/** The processes have started by then. */
export const bootMs = 10_000;

const midnights = [
  '2026-11-20T16:00:00.000Z',
  '2026-11-30T16:00:00.000Z',
  '2026-12-31T16:00:00.000Z',
  '2027-02-28T16:00:00.000Z',
  '2027-01-01T00:00:00.000Z',
];

/** A seed that verifies every day keeps its time of day. */
export function withMidnight(
  plan: Plan,
  random: Random,
  { activeMs, isAsked }: { activeMs: number; isAsked: boolean },
): Plan {
  if (plan.verifyAfterMs !== undefined || (!isAsked && random.chance(0.85))) return plan;
  const startMs = Date.parse(random.pick(midnights)) - bootMs - random.integer(0, activeMs);
  return { ...plan, startsAt: new Date(startMs).toISOString() };
}

export const startMsOf = ({ startsAt = usualStart }: Pick<Plan, 'startsAt'>): number => Date.parse(startsAt);
