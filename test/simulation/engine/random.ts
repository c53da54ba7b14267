/** Seeded randomness: the same seed draws the same numbers for ever. Not for secrets. */

export type Random = {
  /** At least 0 and less than 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  bytes(length: number): Buffer;
  /** A source of its own, which depends only on this one's seed and the name. */
  fork(name: string): Random;
};

/** The generator is sfc32; its state comes from FNV-1a over the seed. */
export function createRandom(seed: string): Random {
  let a = hash(seed, 0x811c9dc5);
  let b = hash(seed, 0x01000193);
  let c = hash(seed, 0x9e3779b9);
  let d = 1;
  const next32 = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next32();
  const next = () => next32() / 2 ** 32;
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new RangeError('There is nothing to pick from');
      return item;
    },
    bytes(length) {
      const words = new Uint32Array(Math.ceil(length / 4));
      for (let index = 0; index < words.length; index += 1) words[index] = next32();
      return Buffer.from(words.buffer, 0, length);
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

function hash(text: string, start: number): number {
  let value = start;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value | 0;
}
