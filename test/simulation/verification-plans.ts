/** Lets the program verify everything once a day, while things fail. */
import type { Random } from './engine/random.ts';
import { hour, minute, second } from './fault-kinds.ts';
import type { Fault, Plan } from './plan.ts';

/** It costs as much as `ledger verify` at the end of each seed, so only some have it. */
export function withVerification(
  plan: Plan,
  random: Random,
  { names, isAsked }: { names: readonly string[]; isAsked: boolean },
): Plan {
  if (plan.faults.some(({ kind }) => kind === 'upgrade' || kind === 'database-clock')) return plan;
  if (!isAsked && random.chance(0.88)) return plan;
  const wrong = random.chance(0.2) ? somethingToFind(random, plan.healAtMs - 2 * minute) : [];
  const verifyAfterMs = random.pick(wrong.length > 0 ? [20, 60] : [1, 2, 3, 4, 20, 60]) * minute;
  const faults = random.chance(0.5) ? [...wrong, ...disturbance(random, names, verifyAfterMs)] : wrong;
  return {
    ...plan,
    verifyAfterMs,
    faults: [...plan.faults, ...faults].toSorted((a, b) => a.atMs - b.atMs),
  };
}

/** The time of day in Malaysia, as VERIFY_SCHEDULE has it. */
export function verifyAtOf({ verifyAfterMs }: Plan, startMs: number): string {
  if (verifyAfterMs === undefined) return 'off';
  return new Date(startMs + verifyAfterMs + 8 * hour).toISOString().slice(11, 16);
}

function somethingToFind(random: Random, untilMs: number): Fault[] {
  const atMs = random.integer(untilMs / 2, untilMs);
  return random.chance(0.5)
    ? [{ kind: 'unreadable', atMs }]
    : [{ kind: 'restore', atMs, lastEvents: random.integer(5, 60) }];
}

/** While it lasts long, because a store is slow, its process or its machine is killed, or the store. */
function disturbance(random: Random, names: readonly string[], dueMs: number): Fault[] {
  const during = () => dueMs + random.integer(0, 90) * second;
  const forMs = () => random.integer(1, 30) * second;
  const node = random.pick(names.filter((name) => name.startsWith('projections-')));
  const slow = {
    kind: 'slow',
    node: random.pick(['postgres', 'eventstore-1']),
    delayMs: random.integer(50, 1_000),
    atMs: dueMs,
    forMs: 2 * minute,
  } as const;
  const crash = (): Fault => ({ kind: 'crash', node, atMs: during(), forMs: forMs() });
  return [
    slow,
    ...random.pick<() => Fault[]>([
      () => [crash(), crash()],
      () => [{ kind: 'pause', node, atMs: during(), forMs: random.integer(20, 100) * second }],
      () => [{ kind: 'postgres-crash', atMs: during(), forMs: forMs() }],
      () => [{ kind: 'kill-event-store', number: 0, atMs: during(), forMs: forMs() }],
    ])(),
  ];
}
