/** Lets personal data be erased for their age, while things fail. */
import type { Random } from './engine/random.ts';
import { day, hour, minute, second } from './fault-kinds.ts';
import type { Fault, Plan } from './plan.ts';

type Draw = { random: Random; names: readonly string[]; dueMs: number };

/** Some of the seeds that last longer than a day have it; for the others it would be too dear. */
export function withRetention(
  plan: Plan,
  random: Random,
  { names, activeMs, isAsked }: { names: readonly string[]; activeMs: number; isAsked: boolean },
): Plan {
  if (!isAsked && (plan.calmMs < 30 * hour || random.chance(0.75))) return plan;
  // The payments are due from then on, one after the other.
  const dueMs = day + activeMs / 4;
  const draw = () => random.integer(0, 999_999);
  const during = () => random.integer(activeMs / 4, activeMs + minute);
  const faults: Fault[] = [
    { kind: 'stray-results', atMs: during(), count: random.integer(2, 6) },
    { kind: 'quarantine', atMs: activeMs + random.integer(1, 30) * minute, draw: draw() },
    // Some of them are due already when staff come to them.
    { kind: 'quarantine', atMs: dueMs + random.integer(-30, 90) * minute, draw: draw() },
    { kind: 'notes', atMs: dueMs + random.integer(-5, 25) * minute, draw: draw() },
    ...disturbance({ random, names, dueMs }),
  ];
  return {
    ...plan,
    retentionDays: 1,
    faults: [...plan.faults, ...faults].toSorted((a, b) => a.atMs - b.atMs),
    calmMs: Math.max(plan.calmMs, 30 * hour),
  };
}

/** Null: personal data are kept for ever. */
export const retentionMsOf = ({ retentionDays }: Plan): number | null =>
  retentionDays === undefined ? null : retentionDays * day;

/** The program looks every 12 minutes in calm: what fails has to last as long, or to happen while it is slow. */
function disturbance({ random, names, dueMs }: Draw): Fault[] {
  const at = { atMs: dueMs + random.integer(-5, 10) * minute, forMs: random.integer(5, 20) * minute };
  const node = random.pick(names.filter((name) => name.startsWith('projections-')));
  const store = random.pick(['postgres', 'eventstore-1']);
  const way = random.pick([
    { from: node, to: store },
    { from: store, to: node },
  ]);
  return random.pick<() => Fault[]>([
    () => [],
    () => [{ kind: 'torn-append', isStored: random.chance(0.5), ...at }],
    () => [{ kind: 'cut', ...way, bothWays: random.chance(0.5), ...at }],
    () => [{ kind: 'postgres-crash', ...at }],
    () => [
      {
        kind: 'database-clock',
        offsetMs: 3 * day,
        atMs: dueMs - random.integer(2, 12) * hour,
        forMs: random.integer(30, 90) * minute,
      },
    ],
    () => [{ kind: 'kill-event-store', number: random.integer(0, 2), ...at }],
    () => [
      { kind: 'postgres-failover', atMs: at.atMs, lagMs: at.forMs, forMs: random.integer(1, 30) * second },
    ],
    () => [
      { kind: 'slow', node: store, delayMs: random.integer(1_000, 10_000), ...at, forMs: hour },
      ...[1, 2, 3].map(
        (): Fault => ({
          kind: 'crash',
          node,
          atMs: dueMs + random.integer(0, 40) * minute,
          forMs: random.integer(1, 60) * second,
        }),
      ),
    ],
  ])();
}
