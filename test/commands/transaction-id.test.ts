// Transaction ids: the same for the same request, for life, and never the same for two.
import { createHmac } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { transactionIdOf, transactionIdPattern } from '../../src/commands/transaction-id.ts';
import { channels } from '../../src/events/payment-request.ts';
import { anyText } from '../support/any-text.ts';

/** The same by another way: the bits as text, in groups of five. */
function expected(key: string, text: string): string {
  const digest = createHmac('sha256', key).update(text).digest().subarray(0, 16);
  const bits = [...digest]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
    .padStart(130, '0');
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return (bits.match(/.{5}/g) ?? []).map((group) => letters[Number.parseInt(group, 2)]).join('');
}

// Fixed for good: a payment whose id changed could no longer be found.
const known: [string, 'generic' | 'landreg', string, string, string][] = [
  ['key', 'generic', 'council', 'INV-2026-000123', '4B9033TPSRKD7TKZKN5Q1T4PKQ'],
  ['key', 'landreg', 'ptg', 'T-1', '3M6E4YRHNR7J4GH9G6B8YHQ7GB'],
  ['another key', 'generic', 'council', 'INV-2026-000123', '6SVCCHY903Y1H3Q5138AM3HGMH'],
  ['', 'generic', '', '', '4QKRGPZZSPPKMHXM5T9VS9PXEV'],
  ['kunci ✓', 'generic', 'majlis é', '"\\\u0000😀', '7EQR92D7QTNQXR878EWNXFZ97S'],
];

for (const [key, channel, merchantCode, reference, id] of known) {
  test(`the id of ${channel} ${merchantCode} ${JSON.stringify(reference)} with "${key}" is ${id}`, (t) => {
    t.is(transactionIdOf(key, channel, merchantCode, reference), id);
    t.is(expected(key, JSON.stringify([channel, merchantCode, reference])), id);
  });
}

const parts = fc.record({
  channel: fc.constantFrom(...channels),
  merchantCode: anyText({ maxLength: 6 }),
  reference: anyText({ maxLength: 6 }),
});

test('an id has 26 characters of Crockford base32, and is the same every time', (t) => {
  fc.assert(
    fc.property(fc.string(), parts, (key, { channel, merchantCode, reference }) => {
      const id = transactionIdOf(key, channel, merchantCode, reference);
      return (
        transactionIdPattern.test(id) &&
        id === expected(key, JSON.stringify([channel, merchantCode, reference])) &&
        id === transactionIdOf(key, channel, merchantCode, reference)
      );
    }),
  );
  t.pass();
});

test('other parts make another id, also where only the border between parts differs', (t) => {
  const id = (merchantCode: string, reference: string) =>
    transactionIdOf('key', 'generic', merchantCode, reference);
  const separators = ['', ',', '","', '\u0000', '|', '/', '-', '\\', '\\"', '\n'];
  const tricky = separators.flatMap((separator) => [
    [`a${separator}`, 'b'],
    ['a', `${separator}b`],
    [`a${separator}b`, ''],
    ['', `a${separator}b`],
  ]);
  const distinct = new Map(tricky.map((pair) => [JSON.stringify(pair), pair]));
  t.is(new Set([...distinct.values()].map(([a = '', b = '']) => id(a, b))).size, distinct.size);
  t.not(id('a', '\ud800'), id('a', '\\ud800'));
  t.not(id('a', '\ud800'), id('a', '\ufffd'));
  t.not(id('a', 'é'), id('a', 'e\u0301'));
  t.not(id('a', 'INV-1'), id('a', 'inv-1'));
});

test('two different requests have two ids', (t) => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const id = ({ channel, merchantCode, reference }: typeof a) =>
        transactionIdOf('key', channel, merchantCode, reference);
      const same =
        a.channel === b.channel && a.merchantCode === b.merchantCode && a.reference === b.reference;
      return (id(a) === id(b)) === same;
    }),
  );
  t.pass();
});

for (const text of [
  '',
  '8ZZZZZZZZZZZZZZZZZZZZZZZZZ',
  '7ZZZZZZZZZZZZZZZZZZZZZZZZ',
  '5K3M9QW2Z7TCV8XN4RBJ6HYDFI',
  '5k3m9qw2z7tcv8xn4rbj6hydfe',
  '5K3M9QW2Z7TCV8XN4RBJ6HYDFE\n',
  '../5K3M9QW2Z7TCV8XN4RBJ6HY',
]) {
  test(`${JSON.stringify(text)} is not a transaction id`, (t) => t.notRegex(text, transactionIdPattern));
}
