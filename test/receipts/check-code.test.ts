import test from 'ava';
import { isVerificationCheck, verificationCheck, verificationKeys } from '../../src/receipts/check-code.ts';

const original = 'transaction id key';
// As earlier releases made them, without LINK_KEY.
const key = verificationKeys({ current: original, others: [], original });
const receipt = { receiptNo: '7-20261120-BJ6HYDFE', transactionId: '0123456789ABCDEFGHJKMNPQRS' };
const check = verificationCheck(key, receipt);

test('a check is 16 unmistakable characters, the same every time', (t) => {
  t.is(check, 'KYK6BVS851E7AZKW');
  t.is(
    verificationCheck(verificationKeys({ current: original, others: ['other'], original: 'x' }), receipt),
    check,
  );
});

test('a check is for one number of one payment, under one key', (t) => {
  const { receiptNo, transactionId } = receipt;
  t.true(isVerificationCheck(key, receipt, check));
  t.false(isVerificationCheck(key, { ...receipt, receiptNo: `${receiptNo} ` }, check));
  t.false(isVerificationCheck(key, { ...receipt, receiptNo: receiptNo.replace('7', '8') }, check));
  t.false(isVerificationCheck(key, { ...receipt, transactionId: transactionId.replace('0', '1') }, check));
  t.false(
    isVerificationCheck(
      verificationKeys({ current: 'another key', others: [], original: 'x' }),
      receipt,
      check,
    ),
  );
});

test('changing any character makes it wrong', (t) => {
  for (let place = 0; place < check.length; place += 1) {
    const other = check[place] === '7' ? '8' : '7';
    t.false(isVerificationCheck(key, receipt, check.slice(0, place) + other + check.slice(place + 1)));
  }
});

test('it is accepted as people type it', (t) => {
  t.true(isVerificationCheck(key, receipt, check.toLowerCase()));
  const numbers = Array.from({ length: 60 }, (_, number) => String(number));
  for (const receiptNo of numbers) {
    const numbered = { ...receipt, receiptNo };
    const typed = verificationCheck(key, numbered)
      .replaceAll('0', 'o')
      .replace('1', 'l')
      .replaceAll('1', 'I');
    t.true(isVerificationCheck(key, numbered, typed), typed);
  }
});

test('anything else is refused', (t) => {
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
    t.false(isVerificationCheck(key, receipt, text), text);
  }
});

test('receipts printed under an earlier key, and by earlier releases, stay genuine; new ones say the current key', (t) => {
  const link = { current: 'link key', others: [] as string[], original };
  const printed = verificationCheck(verificationKeys(link), receipt);
  t.not(printed, check, 'TRANSACTION_ID_KEY makes no checks any more');
  t.true(isVerificationCheck(verificationKeys(link), receipt, check));
  const next = { ...link, current: 'next link key' };
  t.true(isVerificationCheck(verificationKeys({ ...next, others: ['link key'] }), receipt, printed));
  t.true(isVerificationCheck(verificationKeys({ ...next, others: ['link key'] }), receipt, check));
  t.false(isVerificationCheck(verificationKeys(next), receipt, printed), 'a key that leaked');
});
