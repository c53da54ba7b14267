/** Processes that are killed at the worst moments, and a PostgreSQL that can be read only. */
import { type Kind, second } from './fault-kinds.ts';

/**
 * What a process has asked for last is done, and it never hears so. Moments of a few milliseconds, which a time that is
 * drawn hardly ever meets.
 */
export const crashAtKind: Kind = {
  kind: 'crash-at',
  share: 0.12,
  most: 6,
  make: (random, names, activeMs) => {
    const what = random.pick(['event store', 'event store', 'postgres', 'postgres', 'receiver'] as const);
    const senders = what === 'receiver' ? names.filter((name) => name.startsWith('reactors')) : names;
    return {
      kind: 'crash-at',
      atMs: random.integer(5 * second, activeMs),
      node: random.pick(senders),
      what,
      nth: random.integer(1, what === 'receiver' ? 3 : 30),
      forMs: random.pick([random.integer(1, 5), random.integer(20, 100)]) * second,
    };
  },
};

/** As a replica is to which a program was led too early, or a server whose disk its operators protect. */
export const readOnlyKind: Kind = {
  kind: 'postgres-read-only',
  share: 0.06,
  most: 2,
  make: (random, _, activeMs) => ({
    kind: 'postgres-read-only',
    atMs: random.integer(5 * second, activeMs),
    forMs: random.pick([random.integer(1, 20), random.integer(20, 200)]) * second,
  }),
};
