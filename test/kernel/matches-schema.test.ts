/** The quick check of an event's data says what superstruct says, of whatever is put in its place. */
import { matchesSchema, readPlainFields } from '@ledger/kernel/matches-schema.ts';
import test from 'ava';
import fc from 'fast-check';
import { is, type Struct, validate } from 'superstruct';
import { paymentEvents } from '../../src/events/payment.ts';
import { paymentRequestBody } from '../../src/http/generic/request-body.ts';
import { history } from '../projections/histories.ts';
import { sen } from '../support/payments.ts';

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

test('readPlainFields reads what superstruct reads, or leaves it to superstruct', (t) => {
  const struct = paymentRequestBody({ maxAmountSen: sen(100_000), production: false });
  const valid = {
    trans_id: 'A-1',
    amount: '10.50',
    service: 'Licences',
    description: 'Dog licence',
    callback_url: 'https://council.example/callback',
    redirect_url: 'https://council.example/',
    email: 'aminah@example.my',
    extra: { account_no: 'A-1' },
  };
  const names = fc.constantFrom(...Object.keys(valid), 'name', 'toString', '__proto__', 'unknown');
  let readAny = 0;
  let leftAny = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(names, anything), { maxLength: 3 }), (changes) => {
      const input = { ...valid, ...Object.fromEntries(changes) };
      const [fault, expected] = validate(input, struct, { coerce: true, mask: true });
      const fields = readPlainFields(input, struct);
      t.deepEqual(fields, fault ? null : expected);
      if (fault) leftAny += 1;
      else readAny += 1;
    }),
  );
  t.true(readAny > 5 && leftAny > 5);
});
