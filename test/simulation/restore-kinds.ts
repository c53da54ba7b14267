/** PostgreSQL, or everything, that goes on from an older copy, while people do what its rows are about. */
import type { Random } from './engine/random.ts';
import { type Kind, minute, second } from './fault-kinds.ts';
import type { Fault } from './plan.ts';

export const postgresRestoreKind: Kind = {
  kind: 'postgres-restore',
  share: 0.05,
  most: 1,
  make: (random, _, activeMs) => {
    const atMs = random.integer(0, activeMs);
    // A copy of a moment ago, while there is much to do; or an older one, when all has been done.
    const ageMs = random.pick([random.integer(20, 100) * second, random.integer(2, 60) * minute]);
    const restore = { kind: 'postgres-restore', atMs, ageMs, forMs: random.integer(1, 60) * second } as const;
    const acts = Array.from({ length: random.integer(0, 3) }, () => act(random, restore));
    return [restore, ...acts];
  },
};

/** Everything is lost and begins again from a backup; then staff import what was paid, and once more when all has been paid. */
export const recoveryKind: Kind = {
  kind: 'recovery',
  share: 0.03,
  most: 1,
  make: (random, _, activeMs) => {
    const atMs = random.integer(0, activeMs);
    const ageMs = random.integer(5, 100) * second;
    const forMs = random.integer(1, 60) * second;
    return [
      { kind: 'recovery', atMs, ageMs, forMs },
      { kind: 'import', atMs: atMs + ageMs + forMs + 2 * minute, ageMs: 0 },
      { kind: 'import', atMs: activeMs + 20 * minute, ageMs: 0 },
    ];
  },
};

/** Since the copy was made; half of them shortly before it takes the place of what they are recorded in. */
function act(random: Random, { atMs, ageMs }: { atMs: number; ageMs: number }): Fault {
  const sinceMs = random.chance(0.5)
    ? random.integer(2 * second, ageMs)
    : ageMs - random.integer(0, 5 * second);
  const at = { atMs: atMs + sinceMs };
  if (random.chance(0.2))
    return { kind: 'rebuild', projection: random.pick(['payments', 'journal', 'reconciliation']), ...at };
  const kind = random.pick(['erase', 'erase', 'send-again', 'settle', 'imports', 'resolve'] as const);
  return { kind, draw: random.integer(0, 999_999), ...at };
}
