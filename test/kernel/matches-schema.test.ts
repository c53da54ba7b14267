/** The quick check of an event's data says what superstruct says, of whatever is put in its place. */
import { chosen, matchesSchema, readQuickly } from '@ledger/kernel/matches-schema.ts';
import { maskable } from '@ledger/kernel/structs.ts';
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
  trimmed,
  validate,
} from 'superstruct';
import type { Sen } from '../../src/common/money.ts';
import { paymentEvents } from '../../src/events/payment.ts';
import { paymentRequestBody as generic } from '../../src/http/generic/request.ts';
import { paymentRequestBody as landreg } from '../../src/http/landreg/request.ts';
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

const config = { maxAmountSen: 100_000_000 as Sen, production: false };
const requests = [
  {
    struct: generic(config),
    request: {
      trans_id: 'INV-1',
      amount: '120.50',
      service: 'Licences',
      description: 'Business licence 2026',
      callback_url: 'https://merchant.example/callback',
      redirect_url: 'https://merchant.example/done',
      name: null,
      email: 'payer@example.com',
      expires_at: '2026-11-30T23:59:59+08:00',
      extra: { deep: [1] },
      toString: 'unknown',
    },
  },
  {
    struct: landreg(config),
    request: {
      kod_cawangan: '01',
      transaksi_id: 'T-1',
      jumlah_bayaran: 10,
      return_url: 'https://registry.example/',
      maklumat_bayaran: [{ urusan: 'Carian', jumlah_bayaran: 10 }],
    },
  },
] as const;

test('what readQuickly reads of a request is what superstruct reads, and it reads what fits', (t) => {
  for (const { struct, request } of requests) {
    let read = 0;
    fc.assert(
      fc.property(fc.array(fc.nat(11), { maxLength: 2 }), anything, (path, value) => {
        const given = put(request, path, value);
        if (typeof given !== 'object' || given === null || Array.isArray(given)) return;
        const quick = readQuickly(given, struct as Struct<unknown>);
        const [fault, fields] = validate(given, struct as Struct<unknown>, { coerce: true, mask: true });
        if (quick !== undefined) t.deepEqual({ ...quick }, { ...Object(fields) });
        // Items of a land registry have fields of their own.
        else t.true(fault !== undefined || struct === requests[1].struct);
        read += quick === undefined ? 0 : 1;
      }),
      { numRuns: 500 },
    );
    t.is(read > 100, struct === requests[0].struct);
  }
});

test('readQuickly leaves fields with parts to superstruct, which may have to change the parts', (t) => {
  const text = maskable({ text: trimmed(string()) });
  t.deepEqual(readQuickly({ text: ' a ' }, text), { text: 'a' });
  t.is(readQuickly({ part: { text: ' a ' } }, maskable({ part: text })), undefined);
  t.is(readQuickly({ parts: [{ text: ' a ' }] }, maskable({ parts: array(text) })), undefined);
});
