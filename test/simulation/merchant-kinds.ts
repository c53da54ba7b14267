/** Merchants that read their payments while they are made and things fail, and replace their keys and secrets meanwhile. */
import { type Kind, minute, second } from './fault-kinds.ts';

export const merchantKinds: readonly Kind[] = [
  {
    kind: 'merchant-reads',
    share: 0.3,
    most: 30,
    make: (random, _, activeMs) => ({
      kind: 'merchant-reads',
      atMs: random.integer(0, activeMs + random.pick([0, 0, 10]) * minute),
      draw: random.integer(0, 999_999),
    }),
  },
  {
    kind: 'credentials',
    share: 0.1,
    most: 6,
    make: (random, _, activeMs) => ({
      kind: 'credentials',
      atMs: random.integer(5 * second, activeMs),
      draw: random.integer(0, 999_999),
    }),
  },
];
