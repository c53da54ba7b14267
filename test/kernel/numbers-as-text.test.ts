// JSON whose numbers keep the form in which they were written.
import { parseNumbersAsText } from '@ledger/kernel/numbers-as-text.ts';
import test from 'ava';
import fc from 'fast-check';

test('every number is the text that was written for it', (t) => {
  t.deepEqual(parseNumbersAsText('{"a":120.50,"b":[1e2,-0,{"c":12345678901234567890}],"d":"1","e":null}'), {
    a: '120.50',
    b: ['1e2', '-0', { c: '12345678901234567890' }],
    d: '1',
    e: null,
  });
  t.throws(() => parseNumbersAsText('{'), { instanceOf: SyntaxError });
});

test('everything else is as JSON.parse reads it', (t) => {
  const withoutNumbers = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(withoutNumbers, (value) => {
      const json = JSON.stringify(value);
      t.deepEqual(parseNumbersAsText(json), JSON.parse(json));
    }),
  );
});
