/** Staff who import exports and settlements while read models are rebuilt and things fail. */
import type { Random } from './engine/random.ts';
import { disturbed, type Kind, minute, second } from './fault-kinds.ts';
import type { Fault } from './plan.ts';

export const importsKind: Kind = {
  kind: 'imports',
  share: 0.06,
  most: 4,
  make: (random, names, activeMs) => {
    const atMs = random.integer(activeMs / 3, activeMs + random.pick([0, 0, 20]) * minute);
    return [
      ...disturbed('imports', random, names, atMs),
      ...(random.chance(0.5) ? disturbed('settle', random, names, atMs) : []),
      ...rebuilds(random, atMs),
    ];
  },
};

/** Of what imports read. */
const rebuilds = (random: Random, atMs: number): Fault[] =>
  (['reconciliation', 'payments', 'journal'] as const)
    .filter(() => random.chance(0.4))
    .map((projection) => ({
      kind: 'rebuild',
      projection,
      atMs: atMs + random.integer(-5, 20) * second,
    }));
