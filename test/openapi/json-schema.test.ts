// Each struct agrees with its JSON Schema in the description, on thousands of values of every kind.
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import fc from 'fast-check';
import { array, integer, min, number, object, optional, refine, string, validate } from 'superstruct';
import { jsonSchemaOf } from '../../packages/openapi/json-schema.ts';
import { readGatewayTime } from '../../src/common/malaysian-time.ts';
import { createDescription, structsOf } from '../../src/http/openapi.ts';
import { sen } from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const config = {
  baseUrl: 'https://payments.example',
  production: false,
  maxAmountSen: sen(100_000_000),
  sandbox: { enabled: true },
};
const description = createDescription(config);

const ajv = new Ajv2020({
  strict: false,
  formats: {
    uri: URL.canParse,
    email: true,
    'date-time': (text: string) => readGatewayTime(text) !== null,
  },
});

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// ── Values ───────────────────────────────────────────────────────────────────────────────────────────

/** The examples of the description, by the name of their schema. */
function examplesOf(node: unknown, found = new Map<string, Json>()): Map<string, Json> {
  if (typeof node !== 'object' || node === null) return found;
  const { schema, example } = node as {
    schema?: { $ref?: string; items?: { $ref: string } };
    example?: Json;
  };
  if (schema?.$ref && example !== undefined) found.set(nameOf(schema.$ref), example);
  if (schema?.items && Array.isArray(example)) found.set(nameOf(schema.items.$ref), example[0] ?? null);
  for (const member of Object.values(node)) examplesOf(member, found);
  return found;
}

const nameOf = (reference: string) => reference.replace('#/components/schemas/', '');
const examples = examplesOf(description);

/** Code units, so that halves of surrogate pairs are among them. */
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 })
  .map((units) => String.fromCharCode(...units));
const special = [
  '',
  ' ',
  '\u00a0',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2069',
  '\u200d',
  '\ufe0f',
  '\n',
  '\0',
  '\u007f',
  '\ud800',
  '\udc00',
  'a',
  'é',
  '😀',
  '@',
  '/',
  '#',
];
const pieces = fc.oneof(fc.constantFrom(...special), anyUnits);
const aroundLimits = fc.constantFrom(
  0,
  1,
  2,
  3,
  20,
  30,
  50,
  51,
  100,
  101,
  150,
  151,
  200,
  201,
  250,
  254,
  255,
  2001,
);
const texts = fc.oneof(
  fc.tuple(pieces, fc.string({ maxLength: 20 }), pieces).map((parts) => parts.join('')),
  fc.tuple(pieces, aroundLimits).map(([piece, length]) => piece.repeat(length).slice(0, 4100)),
  fc.emailAddress(),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .tuple(
      fc.constantFrom('http://', 'HTTPS://', 'http:/', 'http:///', 'ftp://', '//', 'http:\\\\'),
      fc.webPath(),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    'http://[::1',
    'http://u:p@host/',
    'http://@host',
    'http://host/@',
    'http://host:99999',
    'http://a b/',
    'http://host?u@h',
    'https://host#x',
  ),
  fc.constantFrom(
    'a@b',
    'a@b.my',
    'A@B.MY',
    'a@b..my',
    'a@-b.my',
    `${'a'.repeat(64)}@b.my`,
    `${'a'.repeat(65)}@b.my`,
  ),
  fc.constantFrom(
    'admin',
    'member',
    'active',
    '00',
    '0',
    '3',
    '4',
    '20261120090430',
    '0B3W7K5TNSMQ2D4V8XZC6RH1JA',
  ),
);
const whole = fc.integer({ min: -100, max: 100_000_100 });
const amounts = fc.oneof(
  whole.map((it) => it / 100),
  fc.integer({ min: 1, max: 99_999_999 }).map((it) => it / 1000),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  // A text above the limit is what JSON Schema cannot refuse.
  fc
    .tuple(
      fc.integer({ min: 0, max: 999_999 }),
      fc.constantFrom('', '.', '.0', '.5', '.25', '.125', ',00', 'e1'),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('0', '0.00', '000.00', '00.01', '+1', '-1', ' 1', '1 ', '1000000.00', '.5', '0x10', '1_0'),
);
/** superstruct's own messages, which structs of answers use, cannot print `{"toString": 0}`. */
const isPrintable = (value: Json) => !/"(?:toString|valueOf)"/.test(JSON.stringify(value));
const values: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: texts },
  { weight: 2, arbitrary: amounts },
  {
    weight: 1,
    arbitrary: (fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>).filter(isPrintable),
  },
);

/** How to change a value: at one of its places, to something else; undefined takes the place away. */
type Change = { place: number; to: Json | undefined; copies: number };
const changes = fc.array(
  fc.record({
    place: fc.nat(),
    to: fc.option(values, { nil: undefined, freq: 6 }),
    copies: fc.constantFrom(0, 1, 2, 20, 21),
  }),
  { minLength: 1, maxLength: 2 },
);

type Schema = { properties?: Record<string, Schema>; items?: Schema };

/** Every place of a value that its schema knows of. */
function placesOf(schema: Schema, path: (string | number)[] = []): (string | number)[][] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    placesOf(member, [...path, name]),
  );
  const inItems = schema.items ? placesOf(schema.items, [...path, 0]) : [];
  return [path, ...below, ...inItems];
}

function changed(value: Json, path: readonly (string | number)[], { to, copies }: Change): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined)
    return Array.isArray(value) && copies !== 1
      ? Array.from({ length: copies }, () => value[0] ?? to ?? null)
      : to;
  if (typeof value !== 'object' || value === null) return to;
  const members = Array.isArray(value) ? [...value] : { ...value };
  const member = changed(Reflect.get(members, key) ?? {}, rest, { to, copies, place: 0 });
  if (member === undefined) Reflect.deleteProperty(members, key);
  else Reflect.set(members, key, member);
  return Array.isArray(members) ? members.filter((it) => it !== undefined) : members;
}

// ── Tests ────────────────────────────────────────────────────────────────────────────────────────────

const tries = runs(1500);

for (const [name, struct] of Object.entries(structsOf(config)))
  test(`${name}: struct and JSON Schema agree`, (t) => {
    const schema = description.components.schemas[name] ?? {};
    const matches = ajv.compile(schema);
    const example = examples.get(name);
    if (example === undefined) throw new Error(`The description has no example of ${name}`);
    t.true(matches(example), JSON.stringify(matches.errors));
    const places = placesOf(schema);
    const counts = { taken: 0, refused: 0 };
    const agree = (made: readonly Change[]) => {
      const value = made.reduce<Json>(
        (sofar, change) => changed(sofar, places[change.place % places.length] ?? [], change) ?? null,
        example,
      );
      const [fault] = validate(value, struct, { coerce: true, mask: true });
      // The schema says this in words: validators divide numbers in binary, and would refuse 4.35.
      const given: unknown = fault?.path.reduce<unknown>((sofar, key) => Object(sofar)[key], value);
      if (typeof given === 'number' && fault?.message.endsWith('at most two decimals')) return;
      if (matches(value) !== (fault === undefined))
        throw new Error(`${fault?.message ?? 'taken'}, but: ${JSON.stringify([value, matches.errors])}`);
      counts[fault ? 'refused' : 'taken'] += 1;
    };
    // In the middle of a text, where few of the random ones have them.
    for (const place of places.keys())
      for (const piece of special) agree([{ place, to: `a${piece}a`, copies: 1 }]);
    fc.assert(fc.property(changes, agree), { numRuns: tries, includeErrorInReport: true });
    t.true(counts.taken > tries / 50 && counts.refused > tries / 50, JSON.stringify(counts));
  });

test('a struct whose rules cannot be read is refused', (t) => {
  t.throws(() => jsonSchemaOf(min(integer(), 0)), { message: /describe it/ });
  t.throws(() => jsonSchemaOf(refine(string(), 'short', (it) => it.length < 5)), { message: /describe it/ });
  t.throws(() => jsonSchemaOf(object({ a: array(optional(number())) })), { message: /describe it/ });
});
