import test from 'ava';
import { isVerificationCheck, verificationCheck, verificationKey } from '../../src/receipts/verification.ts';

const key = verificationKey('transaction id key');
const receiptNo = '7-20261120-BJ6HYDFE';
const check = verificationCheck(key, receiptNo);

test('a check is 16 characters that are printed without doubt, and the same every time', (t) => {
  t.is(check, 'DKPKHBD8D4AZA13Q');
  t.is(verificationCheck(verificationKey('transaction id key'), receiptNo), check);
});

test('a check is of one receipt number, under one key', (t) => {
  t.true(isVerificationCheck(key, receiptNo, check));
  t.false(isVerificationCheck(key, `${receiptNo} `, check));
  t.false(isVerificationCheck(key, receiptNo.replace('7', '8'), check));
  t.false(isVerificationCheck(verificationKey('another key'), receiptNo, check));
});

test('any other character makes it another check', (t) => {
  for (let place = 0; place < check.length; place += 1) {
    const other = check[place] === '7' ? '8' : '7';
    t.false(isVerificationCheck(key, receiptNo, check.slice(0, place) + other + check.slice(place + 1)));
  }
});

test('it is read as people type it', (t) => {
  t.true(isVerificationCheck(key, receiptNo, check.toLowerCase()));
  const numbers = Array.from({ length: 60 }, (_, number) => String(number));
  for (const number of numbers) {
    const typed = verificationCheck(key, number).replaceAll('0', 'o').replace('1', 'l').replaceAll('1', 'I');
    t.true(isVerificationCheck(key, number, typed), typed);
  }
});

test('what is no check at all is none', (t) => {
  for (const text of [
    '',
    ' ',
    check.slice(1),
    `${check}0`,
    `${check} `,
    'ÅÅÅÅÅÅÅÅ',
    'é'.repeat(16),
    'ß'.repeat(16),
  ]) {
    t.false(isVerificationCheck(key, receiptNo, text), text);
  }
});
