// Only the right text is the same, whatever its length.
import { isSameText } from '@ledger/kernel/same-text.ts';
import test from 'ava';
import fc from 'fast-check';
import { runs } from '../support/property-runs.ts';

test('a text is the same as itself, and as no other', (t) => {
  t.true(isSameText('', ''));
  t.false(isSameText('', 'secret'));
  t.false(isSameText('secret', 'secret '));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
      t.true(isSameText(one, one));
      t.is(isSameText(one, other), one === other);
    }),
    { numRuns: runs(100) },
  );
});
