/** The quick check of an event's data says what superstruct says, of whatever is put in its place. */
import { chosen, matchesSchema } from '@ledger/kernel/matches-schema.ts';
import test from 'ava';
import fc from 'fast-check';
import {
  array,
  boolean,
  enums,
  integer,
  is,
  min,
  nullable,
  object,
  optional,
  type Struct,
  string,
} from 'superstruct';
import { paymentEvents } from '../../src/events/payment.ts';
import { history } from '../projections/histories.ts';

/** Puts a value somewhere into another: at a path of indices, wherever that leads. */
function put(into: unknown, path: readonly number[], value: unknown): unknown {
  if (path.length === 0 || typeof into !== 'object' || into === null) return value;
  const keys = Object.keys(into);
  const [index = 0, ...rest] = path;
  const key = keys[index % (keys.length + 1)] ?? 'unknownKey';
  const changed = put(Reflect.get(into, key), rest, value);
  return Array.isArray(into) ? [changed, ...into.slice(1)] : { ...into, [key]: changed };
}

const anything = fc.oneof(
  fc.constantFrom(undefined, null, '', 0, -1, 1.5, '2026-11-20T01:00:00.000Z', {}, [], true),
  fc.jsonValue(),
);

/** Neither has to explain a value that cannot even be made text of, such as one whose `toString` is no function. */
function orThrows(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

test('matchesSchema agrees with superstruct, whatever is wrong with an event', (t) => {
  let fitting = 0;
  let failing = 0;
  fc.assert(
    fc.property(history, fc.array(fc.nat(9), { maxLength: 4 }), anything, (events, path, value) => {
      for (const { type, data } of events) {
        const struct = paymentEvents[type] as Struct<unknown>;
        for (const each of [data, put(data, path, value)]) {
          const expected = orThrows(() => is(each, struct));
          t.is(
            orThrows(() => matchesSchema(each, struct)),
            expected,
          );
          if (expected) fitting += 1;
          else failing += 1;
        }
      }
    }),
    { numRuns: 500 },
  );
  t.true(fitting > 100 && failing > 100);
});

const wanted = enums(['', 'a']);
const count = nullable(integer());
const plain: readonly Struct<unknown, unknown>[] = [
  string(),
  boolean(),
  integer(),
  min(integer(), 0),
  enums(['', 'a']),
  enums([0, 1]),
  array(integer()),
  array(),
  object({ a: optional(integer()) }),
  object(),
  chosen((value) => (typeof value === 'string' ? wanted : count) as Struct<unknown>),
] as unknown as Struct<unknown, unknown>[];

test('matchesSchema agrees with superstruct on every type, also where null or nothing is allowed', (t) => {
  const structs = plain.flatMap((struct) => [
    struct,
    nullable(struct),
    optional(struct),
    array(optional(struct)),
  ]);
  const values = [
    undefined,
    null,
    '',
    'a',
    0,
    1,
    -1,
    1.5,
    Number.NaN,
    true,
    [],
    [0],
    [null],
    [undefined],
    {},
    { a: 1 },
    { a: '' },
    { b: 1 },
  ];
  for (const struct of structs)
    for (const value of values)
      t.is(matchesSchema(value, struct as Struct<unknown>), is(value, struct as Struct<unknown>));
});
