// What payers are found by: typed as people type it, it leads to what merchants sent.
import test from 'ava';
import fc from 'fast-check';
import {
  numberOf,
  searchTokens,
  spellingsOf,
  termsOf,
  typedTerms,
} from '../../../src/projections/payments/search-tokens.ts';
import { anyText } from '../../support/any-text.ts';
import { payer as aminah } from '../../support/payments.ts';

const payer = (over: object) => ({ ...aminah, name: '', email: '', icNo: '', phoneNo: '', ...over });

/** Whether somebody who types `typed` finds the payer. */
function finds(typed: string, over: object): boolean {
  const terms = searchTokens(payer(over));
  return typedTerms(typed).every((term) => spellingsOf(term).some((each) => terms.includes(each)));
}

test('a name is found by its words, in any order and case and in any script', (t) => {
  t.true(finds('ISMAIL aminah', { name: 'Aminah binti Ismail' }));
  t.true(finds('李小龙', { name: '李小龙' }));
  t.true(finds('முத்து', { name: 'முத்து வேலன்' }));
  t.true(finds('محمد', { name: 'محمد بن علي' }));
  t.true(finds('o’neill, siobhán', { name: 'Siobha\u0301n O’Neill' }), 'composed or not');
  t.true(finds('aminah', { name: 'Ａｍｉｎａｈ' }), 'full width');
  t.false(finds('amin', { name: 'Aminah' }), 'whole words only');
});

test('a number is found with separators and without', (t) => {
  t.true(finds('900101145678', { icNo: '900101-14-5678' }));
  t.true(finds('900101-14-5678', { icNo: '900101145678' }));
  t.true(finds('900101-14-5678', { icNo: '900101 14 5678' }));
  t.true(finds('900101 14 5678', { icNo: '900101-14-5678' }));
  t.true(finds('012-345 6789', { phoneNo: '0123456789' }));
  t.true(finds('900101145678 0123456789', { icNo: '900101-14-5678', phoneNo: '0123456789' }), 'two numbers');
  t.true(finds('+60123456789', { phoneNo: '+60 12-345 6789' }));
  t.true(finds('+60 12-345 6789', { phoneNo: '+60 12-345 6789' }));
  t.true(finds('0123456789', { phoneNo: '(012) 345-6789' }));
});

test('a name is found however the words between are written, or without them', (t) => {
  for (const name of ['Aminah binti Ismail', 'AMINAH BT. ISMAIL', 'Aminah Bte Ismail'])
    for (const typed of ['aminah binti ismail', 'Aminah bt ismail', 'aminah ismail'])
      t.true(finds(typed, { name }), `${typed} for ${name}`);
  t.true(finds('muthu al raman', { name: 'Muthu a/l Raman' }));
  t.true(finds('bin', { name: 'Ali bin Abu' }), 'a search for nothing else');
  t.false(finds('binti rosnah', { name: 'Aminah binti Ismail' }));
});

test('a phone number is found with and without its country code', (t) => {
  const written = ['0123456789', '012-345 6789', '+60 12-345 6789', '+60123456789', '60123456789'];
  for (const phoneNo of written)
    for (const typed of written) t.true(finds(typed, { phoneNo }), `${typed} for ${phoneNo}`);
  t.false(finds('0123456780', { phoneNo: '+60123456789' }));
});

test('an identity card is found by its letters and digits, however either was written', (t) => {
  const written = ['900101-14-5678', '900101 14 5678', '900101/14/5678', '900101–14–5678', '900101145678'];
  for (const icNo of written)
    for (const typed of written) t.true(finds(numberOf(typed), { icNo }), `${typed} for ${icNo}`);
  t.true(finds(numberOf('A1234567'), { icNo: 'a-1234567' }));
});

test('an email address is found in upper and lower case', (t) => {
  t.true(finds('AMINAH@Example.MY', { email: 'aminah@example.my' }));
});

test('what Postgres has no text for is found all the same, and nothing makes a row too long', (t) => {
  t.true(finds('a\0b \ud800', { name: 'A\0B \ud800' }));
  t.deepEqual(searchTokens(payer({})), []);
  t.deepEqual(termsOf(' -- () , '), []);
  const many = searchTokens(payer({ name: Array.from({ length: 500 }, (_, n) => `w${n}`).join(' ') }));
  t.is(many.length, 40);
  t.true(finds('x'.repeat(5_000), { name: 'x'.repeat(5_000) }));
  fc.assert(
    fc.property(anyText(), anyText(), (name, icNo) =>
      searchTokens(payer({ name, icNo })).every(
        (term) => term !== '' && term.length <= 200 && term.isWellFormed() && !term.includes('\0'),
      ),
    ),
  );
});

test('whoever types the whole name finds it', (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (name) => finds(name, { name })));
  t.pass();
});
