// What a parser that throws gives instead.
import { orElse } from '@ledger/kernel/or-else.ts';
import test from 'ava';

test('what is made, or the other value where making it throws', (t) => {
  t.deepEqual(
    orElse(() => JSON.parse('{"a":1}'), null),
    { a: 1 },
  );
  t.is(
    orElse(() => JSON.parse('{'), null),
    null,
  );
});
