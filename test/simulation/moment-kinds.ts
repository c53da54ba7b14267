/**
 * Processes that are killed at the worst moments, stores that are not as usual, and a registry and witnesses that answer
 * badly.
 */
import type { Random } from './engine/random.ts';
import { type Kind, minute, moment, second } from './fault-kinds.ts';

/**
 * What a process has asked for last is done, and it never hears so. Moments of a few milliseconds, which a time that is
 * drawn hardly ever meets.
 */
const crashAtKind: Kind = {
  kind: 'crash-at',
  share: 0.12,
  most: 6,
  make: (random, names, activeMs) => {
    const what = random.pick(['event store', 'event store', 'postgres', 'postgres', 'receiver'] as const);
    const senders = what === 'receiver' ? names.filter((name) => name.startsWith('reactors')) : names;
    return {
      kind: 'crash-at',
      atMs: moment(random, activeMs),
      node: random.pick(senders),
      what,
      nth: random.integer(1, what === 'receiver' ? 3 : 30),
      forMs: random.pick([random.integer(1, 5), random.integer(20, 100)]) * second,
    };
  },
};

/** PostgreSQL answers, but not as usual. */
const spell = (random: Random, activeMs: number) => ({
  atMs: moment(random, activeMs),
  forMs: random.pick([random.integer(1, 20), random.integer(20, 200)]) * second,
});

/** As a replica is to which a program was led too early, or a server whose disk its operators protect. */
const readOnlyKind: Kind = {
  kind: 'postgres-read-only',
  share: 0.06,
  most: 2,
  make: (random, _, activeMs) => ({ kind: 'postgres-read-only', ...spell(random, activeMs) }),
};

/** Everything can be read; what is new finds no room. */
const fullKind: Kind = {
  kind: 'postgres-full',
  share: 0.05,
  most: 2,
  make: (random, _, activeMs) => ({ kind: 'postgres-full', ...spell(random, activeMs) }),
};

/** Another program has taken all connections that are free. */
const crowdedKind: Kind = {
  kind: 'postgres-crowded',
  share: 0.05,
  most: 2,
  make: (random, _, activeMs) => ({
    kind: 'postgres-crowded',
    ...spell(random, activeMs),
    isAfterCrash: random.chance(0.5),
  }),
};

/** All processes follow it. Replicas and machines that begin without a time server are off by as much. */
const databaseClockKind: Kind = {
  kind: 'database-clock',
  share: 0.05,
  most: 2,
  make: (random, _, activeMs) => ({
    kind: 'database-clock',
    atMs: moment(random, activeMs),
    offsetMs: random.pick([-10 * minute, -2 * minute, -15 * second, 15 * second, 2 * minute, 10 * minute]),
    forMs: random.pick([random.integer(10, 100) * second, random.integer(2, 20) * minute]),
  }),
};

const registryKind: Kind = {
  kind: 'registry-trouble',
  share: 0.1,
  most: 4,
  make: (random, _, activeMs) => ({
    kind: 'registry-trouble',
    atMs: random.integer(5 * second, activeMs + random.pick([0, 60]) * minute),
    does: random.pick(['hangs', 'slow', 'breaks', 'garbled', 'empty'] as const),
    forMs: random.pick([random.integer(5, 60) * second, random.integer(1, 60) * minute]),
  }),
};

/** What is written is safe much later than usual; reads are as quick as ever. */
const slowDiskKind: Kind = {
  kind: 'slow-disk',
  share: 0.08,
  most: 2,
  make(random, _, activeMs) {
    const store = random.pick(['event store', 'event store', 'postgres'] as const);
    // In the longest time, whoever appends gives up. A transaction that takes 10 s is ended.
    const longestMs = store === 'postgres' ? 3_000 : random.pick([1_000, 8_000]);
    return { kind: 'slow-disk', store, delayMs: random.integer(50, longestMs), ...spell(random, activeMs) };
  },
};

/** Seals are made every ten minutes, and in such seeds there are witnesses. */
const witnessKind: Kind = {
  kind: 'witness',
  share: 0.05,
  most: 6,
  make: (random, _, activeMs) => ({
    kind: 'witness',
    atMs: random.integer(0, activeMs + random.pick([0, 60]) * minute),
    number: random.integer(0, 1),
    does: random.pick(['refuses', 'hangs', 'slow', 'lies'] as const),
    forMs: random.integer(1, 40) * minute,
  }),
};

export const momentKinds: readonly Kind[] = [
  crashAtKind,
  readOnlyKind,
  fullKind,
  crowdedKind,
  databaseClockKind,
  registryKind,
  slowDiskKind,
  witnessKind,
];
