// The same value always has the same text: the hash chain and the comparison of requests rely on it.
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import test from 'ava';
import fc from 'fast-check';

const texts: [unknown, string][] = [
  [null, 'null'],
  ['a"\u2028é😀\ud800', '"a\\"\u2028é😀\\ud800"'],
  [1.0, '1'],
  [-0, '0'],
  [1e21, '1e+21'],
  [[], '[]'],
  [[undefined, 1], '[null,1]'],
  [{ b: 1, a: undefined, c: [{ z: null, y: true }] }, '{"b":1,"c":[{"y":true,"z":null}]}'],
  // By code unit: capitals first, digits as text, an emoji (a surrogate pair) before U+FB33.
  [{ a: 0, B: 0, 10: 0, 9: 0, '': 0 }, '{"":0,"10":0,"9":0,"B":0,"a":0}'],
  [{ '\ufb33': 0, '😀': 0 }, '{"😀":0,"\ufb33":0}'],
  [JSON.parse('{"__proto__":{"x":1},"a":2}'), '{"__proto__":{"x":1},"a":2}'],
];

for (const [value, text] of texts) {
  test(`canonical ${text}`, (t) => t.is(canonicalJson(value), text));
}

test('the order of keys makes no difference', (t) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(reversed(value)) === canonicalJson(value)));
  t.pass();
});

test('a JSON round trip makes no difference, and the text is the value as JSON', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const stored = JSON.parse(JSON.stringify(value));
      t.deepEqual(JSON.parse(canonicalJson(value)), stored);
      return canonicalJson(stored) === canonicalJson(value);
    }),
  );
});

test('different values have different texts', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const text = (value: unknown) => JSON.stringify(sorted(value));
      return (canonicalJson(a) === canonicalJson(b)) === (text(a) === text(b));
    }),
  );
  t.pass();
});

/** The same value with the keys of every object added the other way round. */
function reversed(value: unknown): unknown {
  return withKeys(value, (keys) => keys.toReversed());
}

function sorted(value: unknown): unknown {
  return withKeys(value, (keys) => keys.toSorted());
}

function withKeys(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => withKeys(entry, order));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of order(Object.keys(value))) copy[key] = withKeys(Reflect.get(value, key), order);
  return copy;
}
