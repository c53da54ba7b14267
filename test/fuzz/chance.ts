// Chance that a seed decides. Every case has its own, so that it can be replayed without the cases before it.
export type Chance = ReturnType<typeof createChance>;

/** Mulberry32, seeded with the seed of the run and the number of the case. */
export function createChance(seed: number, number: number) {
  let state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b);
  /** At least 0 and less than 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    happens: (probability: number): boolean => next() < probability,
    bytes: (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(256))),
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
  };
}
