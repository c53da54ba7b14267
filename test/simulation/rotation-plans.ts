/** Lets keys be replaced while the program runs, one machine after the other, and some of them be killed meanwhile. */
import type { Random } from './engine/random.ts';
import { minute, second } from './fault-kinds.ts';
import type { Fault, FaultKind, Plan } from './plan.ts';
import { type KeyName, keyNames } from './program/keys.ts';

/**
 * An older copy of PostgreSQL has keys under a data key that would be dropped. An older log may contradict its last seal:
 * then nothing is sealed any more, by no key.
 */
const keepsOld: Readonly<Record<KeyName, readonly FaultKind[]>> = {
  link: [],
  seal: ['restore'],
  data: ['postgres-failover', 'postgres-restore', 'restore'],
};

/** What most rotations take. */
const replacedWithinMs = 3 * minute;

export function withRotation(
  plan: Plan,
  random: Random,
  { names, activeMs, isAsked }: { names: readonly string[]; activeMs: number; isAsked: boolean },
): Plan {
  const has = (...kinds: readonly FaultKind[]) => plan.faults.some(({ kind }) => kinds.includes(kind));
  if (has('upgrade') || (!isAsked && random.chance(0.94))) return plan;
  // Nothing that is sealed may be lost; an older log names an older link key; a seal that nothing vouches for is a violation.
  const mayBeLost = (key: KeyName) =>
    !has('restore') && key !== 'data' && !(key === 'seal' && plan.verifyAfterMs !== undefined);
  const drawn = keyNames.filter(() => random.chance(0.6));
  const rotations = (drawn.length > 0 ? drawn : keyNames).flatMap((key) => {
    const atMs = random.integer(0, activeMs);
    const common = { kind: 'rotate', key, atMs, gapMs: random.integer(1, 8) * second } as const;
    const draw = random.integer(0, 999_999);
    const isLost = mayBeLost(key) && random.chance(0.25);
    const dropsOld = !isLost && !has(...keepsOld[key]);
    return [{ ...common, draw, isLost, dropsOld }, ...crashes(random, names, atMs)];
  });
  return {
    ...plan,
    // Half of them while the keys are replaced.
    payments: plan.payments.map((each) =>
      random.chance(0.5) ? each : { ...each, atMs: random.integer(0, replacedWithinMs) },
    ),
    faults: [...plan.faults, ...rotations].toSorted((a, b) => a.atMs - b.atMs),
    healAtMs: Math.max(plan.healAtMs, replacedWithinMs + 2 * minute),
  };
}

/** At any time while one process has the old keys and another the new ones. */
function crashes(random: Random, names: readonly string[], atMs: number): Fault[] {
  return Array.from({ length: random.pick([0, 1, 1, 3]) }, () => ({
    kind: 'crash',
    node: random.pick(names),
    atMs: atMs + random.integer(5, 180) * second,
    forMs: random.pick([1, 10, 60]) * second,
  }));
}
