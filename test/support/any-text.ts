/** Text of any characters, for fast-check. */
import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };

/** The same values as fast-check's own unit `binary`, which takes almost a second to build a table of all of them. */
const anyCharacter = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (character) => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (point === undefined || String.fromCodePoint(point) !== character || !character.isWellFormed())
      throw new Error('Not one character');
    return point < surrogates.first ? point : point - surrogates.count;
  },
);

/** Text of any characters of Unicode, well-formed; among it words that are dangerous as names, such as `__proto__`. */
export const anyText = (limits: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...limits, unit: anyCharacter });
