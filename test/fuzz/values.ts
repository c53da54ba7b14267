// Values for the fields and parameters of a description, and what may be wrong with a value.
import type { Chance } from './chance.ts';

export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
};

/** As JSON, in which every one of them can be written and seen. */
export const oddTexts: readonly string[] = JSON.parse(String.raw`[
  "", " ", "\u0000", "a\u0000b", "\ud800", "\uffff", "\u202eabc", "\u200b", "e\u0301\u0301\u0301", "👩‍👩‍👧‍👦", "乱数", "١٢٣",
  "__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "true", "NaN", "Infinity", "[object]",
  "' or 1=1 --", "$\u007b7*7}", "{{7*7}}", "<script>alert(1)</script>", "../../etc/passwd", "..", ".", "/", "//", "\\", "%",
  "%00", "%zz", "%2e%2e%2f", "%c0%ae", "a\r\nX-Injected: 1", "\n", "\t", "\u2028", "\u001b[31m", "\u007f", "a@b", "a@b.c",
  "0", "-0", "-1", "0.00", "00.01", "1e3", "1e309", "0x10", "1,000.00", "١.٠٠", ".5", "5.", "+1", "99999999999999999999",
  "2026-02-30 25:61:61", "0000-00-00 00:00:00", "99999999999999", "2026-11-20T09:04:30Z", "javascript:alert(1)", "https://",
  "http://127.0.0.1:1/", "http://[::1]/", "http://169.254.169.254/", "https://user:pw@a.example/", "https://a.example/#b?c"
]`);

const oddValues: readonly unknown[] = JSON.parse(`[
  null, true, false, 0, -1, 1.005, 1e21, 1e308, 9007199254740993, -0.01, -0, [], {}, [[]], [null], ["a", "a"],
  {"toString": 0}, {"length": 1e9}, {"__proto__": {"a": 1}}, {"constructor": {"prototype": {"a": 1}}}
]`);

/** A value that differs from the right one a little, or altogether. */
function mutated(chance: Chance, right: unknown): unknown {
  if (chance.happens(0.15)) return chance.pick(oddValues);
  if (Array.isArray(right) && chance.happens(0.8)) {
    const at = chance.below(right.length);
    const changed = right.map((each, index) => (index === at ? mutated(chance, each) : each));
    return chance.pick([changed, changed, [], Array(21).fill(right[0]), Array(500).fill(right[0])]);
  }
  if (typeof right === 'object' && right !== null && chance.happens(0.8)) return mutatedFields(chance, right);
  if (typeof right === 'number' && chance.happens(0.7))
    return chance.pick([right + 1, -right, right / 3, right * 1e9, right + 0.001, String(right)]);
  return mutatedText(chance, String(right));
}

export function mutatedText(chance: Chance, right: string): string {
  const at = chance.below(right.length + 1);
  const odd = chance.pick(oddTexts);
  const longer = right.padEnd(chance.pick([51, 101, 151, 251, 2_049, 20_000]), 'x');
  const [before, after] = [right.slice(0, at), right.slice(at)];
  const changed = [
    before + odd + after,
    before + after.slice(1),
    right + right,
    right.toUpperCase(),
    ` ${right} `,
  ];
  return chance.pick([odd, odd, longer, ...changed]);
}

/** Some fields changed, left out or added, among them names that every object of JavaScript has. */
export function mutatedFields(chance: Chance, right: object): Record<string, unknown> {
  const fields = new Map<string, unknown>(Object.entries(right));
  for (let changes = 1 + chance.below(2); changes > 0; changes -= 1) {
    const name = chance.pick([...fields.keys(), 'unknown']);
    const change = chance.below(10);
    if (change === 0) fields.delete(name);
    else if (change === 1) fields.set(chance.pick(oddTexts), fields.get(name));
    else if (change === 2) fields.set(name.toLowerCase(), 'again').set(name.toUpperCase(), 'again');
    else if (change === 3) for (let more = 0; more < 120; more += 1) fields.set(`more${more}`, more);
    else fields.set(name, mutated(chance, fields.get(name)));
  }
  // It makes `__proto__` a field like any other.
  return Object.fromEntries(fields);
}

/** A value that the schema allows, often at one of its limits; undefined where the schema says too little. */
export function allowed(chance: Chance, schema: Schema): unknown {
  if (schema.enum) return chance.pick(schema.enum);
  const { minimum = 0, maximum = minimum + 1e6, minLength = 0, maxLength = 50 } = schema;
  const [type] = [schema.type].flat();
  if (type === 'integer' || type === 'number') return chance.pick([minimum, minimum + 1, maximum]);
  if (type !== 'string') return undefined;
  return chance.pick([...'aZ9é乱😀 <&"']).repeat(chance.pick([minLength, minLength + 1, maxLength]));
}
