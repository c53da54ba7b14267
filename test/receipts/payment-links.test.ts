// Links to a payment's pages: what a signature opens, for how long, and that nothing can be changed in it.
import test from 'ava';
import { createLinkCheck, createLinks } from '../../src/receipts/payment-links.ts';
import { transactionId as id } from '../support/payments.ts';
import { testRuntime } from '../support/runtime.ts';

const linkKeys = { current: 'a key of the tests', others: [], original: 'transaction id key' };
const issuedAt = new Date('2026-11-20T01:00:00.000Z');
const { generic, landreg } = createLinks({
  baseUrl: 'https://pay.example',
  linkKeys,
  runtime: testRuntime({ now: () => issuedAt }),
});
const check = createLinkCheck(linkKeys);
const signatureOf = (link: string) => new URL(link).searchParams.get('sig') ?? '';
const after = (ms: number) => new Date(issuedAt.getTime() + ms);
const hourMs = 3_600_000;

test('on the generic channel links need only the id', (t) => {
  t.is(generic.receipt(id), `https://pay.example/generic/receipt/${id}`);
  t.is(generic.pay(id, 'ms'), `https://pay.example/generic/pay/${id}?lang=ms`);
  t.is(generic.gatewayResult, 'https://pay.example/generic/response');
});

test('the land registry’s links are signed, whatever their language', (t) => {
  const link = new URL(landreg.download(id, 'ms'));
  t.is(link.origin + link.pathname, `https://pay.example/landreg/download/${id}`);
  t.deepEqual([...link.searchParams.keys()], ['lang', 'sig']);
  t.is(signatureOf(link.href), signatureOf(landreg.download(id)));
  t.is(landreg.gatewayResult, 'https://pay.example/landreg/response');
});

for (const [name, lifetimeMs] of [
  ['pay', 24 * hourMs],
  ['receipt', 3650 * 24 * hourMs],
  ['download', 3650 * 24 * hourMs],
] as const)
  test(`a signature for ${name} opens that page of that payment until it expires`, (t) => {
    const signature = signatureOf(landreg[name](id));
    t.is(check(signature, name, id, after(0)), 'valid');
    t.is(check(signature, name, id, after(lifetimeMs - 1)), 'valid');
    t.is(check(signature, name, id, after(lifetimeMs)), 'expired');
    t.is(check(signature, name, `${id.slice(0, -1)}0`, after(0)), 'invalid');
    for (const other of ['pay', 'receipt', 'download'] as const)
      if (other !== name) t.is(check(signature, other, id, after(0)), 'invalid');
    t.is(createLinkCheck({ ...linkKeys, current: 'another key' })(signature, name, id, after(0)), 'invalid');
  });

test('no character of a signature can be changed, added or left out', (t) => {
  const signature = signatureOf(landreg.receipt(id));
  for (const index of signature.split('').keys())
    for (const character of ['A', 'B', 'C', 'D', '0', '9', '', '.'])
      if (signature[index] !== character) {
        const forged = signature.slice(0, index) + character + signature.slice(index + 1);
        t.is(check(forged, 'receipt', id, after(0)), 'invalid', forged);
      }
  for (const forged of ['', '.', `${signature}A`, ` ${signature}`, `${signature}=`, '9999999999999.'])
    t.is(check(forged, 'receipt', id, after(0)), 'invalid', forged);
});

test('a rotation: links under an earlier key open pages while it is configured, those of earlier releases always', (t) => {
  const linkUnder = (current: string) => {
    const signing = { ...linkKeys, current };
    const runtime = testRuntime({ now: () => issuedAt });
    return signatureOf(
      createLinks({ baseUrl: 'https://pay.example', linkKeys: signing, runtime }).landreg.receipt(id),
    );
  };
  const rotated = { ...linkKeys, current: 'the next key', others: [linkKeys.current] };
  const opens = (keys: typeof rotated, signature: string) =>
    createLinkCheck(keys)(signature, 'receipt', id, after(0));
  for (const key of ['the next key', linkKeys.current, linkKeys.original])
    t.is(opens(rotated, linkUnder(key)), 'valid', key);
  t.is(opens({ ...rotated, others: [] }, linkUnder(linkKeys.current)), 'invalid', 'a key that leaked');
  t.not(linkUnder('the next key'), linkUnder(linkKeys.original), 'TRANSACTION_ID_KEY signs nothing');
  t.is(
    createLinkCheck(rotated)(linkUnder(linkKeys.current), 'receipt', id, after(3650 * 24 * hourMs)),
    'expired',
  );
});
