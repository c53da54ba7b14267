/** The kinds of faults, and of what staff do, that a seed draws from. */
import type { Random } from './engine/random.ts';
import type { Fault, FaultKind } from './plan.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

type Make = (random: Random, names: readonly string[], activeMs: number) => Fault | Fault[];

export const moment = (random: Random, activeMs: number) => random.integer(5 * second, activeMs);
/** Short outages are the usual ones; the longest outlast every lease and timeout. */
const duration = (random: Random) =>
  random.pick([random.integer(1, 5), random.integer(5, 20), random.integer(20, 100)]) * second;

/** How many of the seeds have it, and how often such a seed has it at most. */
export type Kind = { kind: FaultKind; share: number; most: number; make: Make };
export const firstKinds: readonly Kind[] = [
  {
    kind: 'crash',
    share: 0.35,
    most: 5,
    make: (random, names, activeMs) => ({
      kind: 'crash',
      atMs: moment(random, activeMs),
      node: random.pick(names),
      forMs: duration(random),
    }),
  },
  {
    kind: 'pause',
    share: 0.2,
    most: 3,
    make: (random, names, activeMs) => ({
      kind: 'pause',
      atMs: moment(random, activeMs),
      node: random.pick(names),
      forMs: duration(random),
    }),
  },
  {
    kind: 'cut',
    share: 0.25,
    most: 4,
    make(random, names, activeMs) {
      const atMs = moment(random, activeMs);
      const node = random.pick(names);
      const other = random.pick(['postgres', 'eventstore-1', '*']);
      // If nothing comes back, what was asked for is done, and the answer is lost.
      const way = random.pick(['there', 'back', 'both', 'both'] as const);
      const [from, to] = way === 'back' ? [other, node] : [node, other];
      return { kind: 'cut', atMs, from, to, bothWays: way === 'both', forMs: duration(random) };
    },
  },
  {
    kind: 'slow',
    share: 0.15,
    most: 2,
    make: (random, names, activeMs) => ({
      kind: 'slow',
      atMs: moment(random, activeMs),
      node: random.pick([...names, 'postgres', 'eventstore-1']),
      delayMs: random.integer(50, 2_000),
      forMs: duration(random),
    }),
  },
  {
    kind: 'clock',
    share: 0.06,
    most: 2,
    make: (random, names, activeMs) => ({
      kind: 'clock',
      atMs: random.integer(0, activeMs / 2),
      node: random.pick(names),
      offsetMs: random.pick([-10 * minute, -2 * minute, -15 * second, 15 * second, 2 * minute, hour]),
      drift: random.pick([0, 0, 0.001, -0.001]),
      forMs: random.integer(1, 30) * minute,
    }),
  },
  { kind: 'postgres-crash', share: 0.12, most: 2, make: timed('postgres-crash') },
  {
    kind: 'kill-event-store',
    share: 0.15,
    most: 2,
    make: (random, _, activeMs) => ({
      kind: 'kill-event-store',
      atMs: moment(random, activeMs),
      number: random.integer(0, 2),
      forMs: duration(random),
    }),
  },
  {
    kind: 'freeze-leader',
    share: 0.2,
    most: 3,
    make: (random, _, activeMs) => {
      const at = { atMs: moment(random, activeMs), forMs: duration(random) };
      const freeze = { kind: 'freeze-leader' as const, ...at };
      if (random.chance(0.5)) return freeze;
      // A host that stands still takes a process with it: what waits for it is done while the old leader believes in itself.
      const forMs = at.forMs + random.integer(50, 1_000);
      return [freeze, { kind: 'pause', node: 'http-1', atMs: at.atMs, forMs }];
    },
  },
  { kind: 'disk-full', share: 0.06, most: 1, make: timed('disk-full') },
  { kind: 'registry-outage', share: 0.2, most: 3, make: timed('registry-outage') },
  {
    kind: 'receiver',
    share: 0.4,
    most: 4,
    make: (random, _, activeMs) => ({
      kind: 'receiver',
      atMs: moment(random, activeMs),
      merchant: random.integer(0, 3),
      does: random.pick(['refuses', 'hangs', 'slow'] as const),
      forMs: duration(random),
    }),
  },
  {
    kind: 'restore',
    share: 0.03,
    most: 1,
    make: (random, _, activeMs) => ({
      kind: 'restore',
      atMs: random.integer(activeMs / 2, activeMs),
      lastEvents: random.integer(1, 60),
    }),
  },
  {
    kind: 'unreadable',
    share: 0.03,
    most: 1,
    make: (random, _, activeMs) => ({ kind: 'unreadable', atMs: moment(random, activeMs) }),
  },
  {
    kind: 'deaf-leader',
    share: 0.04,
    most: 1,
    make: (random, _, activeMs) => ({ kind: 'deaf-leader', atMs: moment(random, activeMs) }),
  },
  {
    kind: 'alternate-unmatched',
    share: 0.04,
    most: 1,
    make: (random, _, activeMs) => ({
      kind: 'alternate-unmatched',
      atMs: moment(random, activeMs),
      times: random.integer(3, 20),
    }),
  },
  {
    kind: 'shared-gateway-id',
    share: 0.03,
    most: 1,
    make: (random, _, activeMs) => ({ kind: 'shared-gateway-id', atMs: moment(random, activeMs) }),
  },
  {
    kind: 'import',
    share: 0.15,
    most: 3,
    // A new one, and soon an older one.
    make: (random, _, activeMs) => {
      const newMs = random.integer(activeMs / 2, activeMs + 6 * minute);
      const oldMs = newMs + random.integer(1, 60) * second;
      const ageMs = oldMs - random.integer(30 * second, newMs);
      return [
        { kind: 'import', atMs: newMs, ageMs: 0 },
        { kind: 'import', atMs: oldMs, ageMs },
      ];
    },
  },
  {
    kind: 'rebuild',
    share: 0.15,
    most: 3,
    // Two of one projection may meet.
    make: (random, _, activeMs) => ({
      kind: 'rebuild',
      atMs: moment(random, activeMs),
      projection: random.pick(['payments', 'payments', 'journal', 'details', 'unmatched', 'reconciliation']),
    }),
  },
  {
    kind: 'resolve',
    share: 0.25,
    most: 3,
    make: (random, _, activeMs) => ({
      kind: 'resolve',
      atMs: random.integer(activeMs / 2, activeMs + 30 * minute),
      draw: random.integer(0, 999_999),
    }),
  },
];

/** Drawn apart from the ones above, so that they do not change every seed's plan. */
export const laterKinds: readonly Kind[] = [
  {
    kind: 'upgrade',
    // Only where it is asked for, because not every clone has the previous release.
    share: 0,
    most: 1,
    make: (random, names, activeMs) =>
      names.map((node) => ({ kind: 'upgrade', atMs: moment(random, activeMs), node })),
  },
  {
    kind: 'torn-append',
    share: 0.15,
    most: 3,
    make: (random, _, activeMs) => ({
      kind: 'torn-append',
      atMs: moment(random, activeMs),
      isStored: random.chance(0.5),
      forMs: duration(random),
    }),
  },
];

function timed(kind: 'postgres-crash' | 'disk-full' | 'registry-outage'): Make {
  return (random, _, activeMs) => ({ kind, atMs: moment(random, activeMs), forMs: duration(random) });
}

export const ownKinds: readonly Kind[] = [
  {
    kind: 'verdicts',
    share: 0.04,
    most: 1,
    // Too early; when the first schedules have ended; and at times when those of payments that had ended otherwise have.
    make: (random, names, activeMs) => [
      { kind: 'verdicts', atMs: moment(random, activeMs), draw: random.integer(0, 999_999) },
      ...disturbed('verdicts', random, names, (26 + random.integer(0, 120) / 60) * hour),
      ...disturbed('verdicts', random, names, (28 + random.integer(0, 120) / 60) * hour),
      ...(random.chance(0.3)
        ? disturbed('verdicts', random, names, (108 + random.integer(0, 120) / 60) * hour)
        : []),
    ],
  },
  {
    kind: 'settle',
    share: 0.1,
    most: 10,
    make: (random, names, activeMs) =>
      disturbed(
        'settle',
        random,
        names,
        random.integer(activeMs / 2, activeMs + random.pick([0, 30]) * minute),
      ),
  },
  {
    kind: 'postgres-failover',
    share: 0.05,
    most: 1,
    make: (random, _, activeMs) => ({
      kind: 'postgres-failover',
      atMs: moment(random, activeMs),
      lagMs: random.integer(1, 40) * second,
      forMs: random.integer(1, 30) * second,
    }),
  },
  {
    kind: 'erase',
    share: 0.08,
    most: 4,
    // Also of payments that are under way, about which more arrives later.
    make: (random, names, activeMs) =>
      disturbed(
        'erase',
        random,
        names,
        random.integer(activeMs / 4, activeMs + random.pick([0, 0, 30]) * minute),
      ),
  },
];

/** Most of what fails has healed by then: something may fail while staff do it. */
export function disturbed(
  kind: 'verdicts' | 'settle' | 'erase' | 'send-again' | 'imports',
  random: Random,
  names: readonly string[],
  atMs: number,
): Fault[] {
  const at = { atMs: atMs + random.integer(-10, 60) * second, forMs: random.integer(1, 30) * second };
  const store = 'eventstore-1';
  const way = random.pick([
    { from: 'staff', to: store },
    { from: store, to: 'staff' },
  ] as const);
  const disturbance = random.pick<Fault | null>([
    null,
    { kind: 'crash', node: random.pick([...names, 'projections-1', 'projections-1']), ...at },
    { kind: 'cut', ...way, bothWays: false, ...at },
    { kind: 'torn-append', isStored: random.chance(0.5), ...at },
    { kind: 'kill-event-store', number: 0, ...at },
    { kind: 'postgres-crash', ...at },
  ]);
  const act = { kind, atMs, draw: random.integer(0, 999_999) };
  return disturbance ? [act, disturbance] : [act];
}
