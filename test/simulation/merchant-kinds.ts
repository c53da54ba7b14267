/** Merchants that read their payments, replace their keys and secrets, or are removed; and payers who ask what is held about them. */
import { type Kind, minute, moment, second } from './fault-kinds.ts';

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
    // What staff have sent again later has to be signed with what counts by then.
    make: (random, _, activeMs) => [
      {
        kind: 'credentials',
        atMs: moment(random, activeMs),
        draw: random.integer(0, 999_999),
      },
      { kind: 'send-again', atMs: activeMs + 15 * minute, draw: random.integer(0, 999_999) },
    ],
  },
  {
    kind: 'merchant-removed',
    share: 0.05,
    most: 1,
    make: (random, _, activeMs) => ({
      kind: 'merchant-removed',
      atMs: moment(random, activeMs),
      gapMs: random.integer(0, 20) * second,
      forMs: random.pick([random.integer(20, 200) * second, random.integer(60, 120) * minute]),
    }),
  },
  {
    kind: 'clerks',
    share: 0.08,
    most: 4,
    make: (random, _, activeMs) => ({
      kind: 'clerks',
      atMs: moment(random, activeMs),
      draw: random.integer(0, 999_999),
    }),
  },
  {
    kind: 'subject-access',
    share: 0.1,
    most: 6,
    // Most of what a projection has not seen is new.
    make: (random, _, activeMs) => ({
      kind: 'subject-access',
      atMs: moment(random, activeMs),
    }),
  },
];
