// The gateway's wire: one reading of the checksum rule against the other side's, and every field of a result.
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { checksumOf } from '../../../packages/sandbox/checksum.ts';
import { signFields, verifyFields } from '../../../src/clients/gateway/checksum.ts';
import { handOverFields } from '../../../src/clients/gateway/hand-over.ts';
import { readGatewayResult } from '../../../src/clients/gateway/read-result.ts';
import { evolve, noPayment } from '../../../src/events/payment.ts';
import { anyText } from '../../support/any-text.ts';
import { opened, type RequestChanges, request, requestedAt, sen } from '../../support/payments.ts';

const page = readFileSync('content/docs/generic-api.md', 'utf8');

const fields = fc.dictionary(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme' }));

test('the checksum is the one that the sandbox gateway computes from the same words', (t) => {
  fc.assert(fc.property(fields, (sent) => signFields(sent, 'secret') === checksumOf(sent, 'secret')));
  t.pass();
});

test('a known value', (t) => {
  // printf %s 'A=x%20y&B=%C3%A9' | openssl dgst -sha256 -hmac secret
  t.is(
    signFields({ B: 'é', A: 'x y', CHECKSUM: 'ignored' }, 'secret'),
    'ba1ad26ebbb848f93e8157b8607f7465dc2b3c4eaecec904428a66dcbdd73acb',
  );
});

test('different fields never have the same checksum', (t) => {
  fc.assert(
    fc.property(fields, fields, (one, other) => {
      const same =
        JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
      return same || signFields(one, 'secret') !== signFields(other, 'secret');
    }),
  );
  t.pass();
});

test('a checksum is right, wrong or missing, under its name in any case', (t) => {
  const CHECKSUM = signFields({ A: '1' }, 'secret');
  t.is(verifyFields({ A: '1', CHECKSUM }, 'secret'), 'valid');
  t.is(verifyFields({ A: '1', Checksum: CHECKSUM }, 'secret'), 'valid');
  t.is(verifyFields({ A: '2', CHECKSUM }, 'secret'), 'wrong');
  t.is(verifyFields({ A: '1', CHECKSUM: 'é'.repeat(32) }, 'secret'), 'wrong');
  t.is(verifyFields({ A: '1', CHECKSUM: '' }, 'secret'), 'wrong');
  t.is(verifyFields({ A: '1' }, 'secret'), 'missing');
});

test('fields that a result lacks are empty', (t) => {
  t.deepEqual(readGatewayResult({ status: '3' }), {
    transactionId: '',
    merchantCode: '',
    result: {
      outcome: 'pending',
      mode: '',
      sellerOrderNo: '',
      gatewayTransactionId: '',
      amountSen: null,
      currency: '',
      paidAt: null,
      receiptNo: '',
      buyerBank: '',
      buyerName: '',
      raw: { status: '3' },
    },
  });
});

for (const [name, value, field, read] of [
  ['PAYMENT_MODE', 'FPX1', 'mode', 'fpx1'],
  ['PAYMENT_MODE', 'cheque', 'mode', ''],
  ['AMOUNT', '120.5', 'amountSen', 12_050],
  ['AMOUNT', '0.00', 'amountSen', 0],
  ['AMOUNT', '1,000.00', 'amountSen', null],
  ['PAYMENT_DATETIME', '2026-11-20T09:04:30+08:00', 'paidAt', '2026-11-20T01:04:30.000Z'],
  ['PAYMENT_DATETIME', '2026-11-20 09:04:30', 'paidAt', '2026-11-20T01:04:30.000Z'],
  ['PAYMENT_DATETIME', '20261120090430', 'paidAt', '2026-11-20T01:04:30.000Z'],
  ['PAYMENT_DATETIME', '2026-02-30 09:04:30', 'paidAt', null],
  ['CURRENCY', ' MYR ', 'currency', 'MYR'],
  ['RECEIPT_NO', ' RC 2026/11 (A)-#7 ', 'receiptNo', 'RC 2026/11 (A)-#7'],
  ['RECEIPT_NO', '1'.repeat(100), 'receiptNo', '1'.repeat(100)],
  ['RECEIPT_NO', '1'.repeat(101), 'receiptNo', ''],
  ['RECEIPT_NO', 'R\u202e1', 'receiptNo', ''],
  ['RECEIPT_NO', 'R\n1', 'receiptNo', ''],
  ['RECEIPT_NO', '..', 'receiptNo', ''],
  ['RECEIPT_NO', 'V/3 #?%&', 'receiptNo', 'V/3 #?%&'],
  ['RECEIPT_NO', 'R\\1', 'receiptNo', ''],
  ['RECEIPT_NO', 'R\u00e9', 'receiptNo', ''],
  ['RECEIPT_NO', '../../etc/"\'<script>', 'receiptNo', ''],
  ['BUYER_NAME', ` ${'x'.repeat(300)}`, 'buyerName', 'x'.repeat(200)],
] as const) {
  test(`${name} ${value.slice(0, 30)} is read as ${read}`.slice(0, 90), (t) => {
    const actual: unknown = readGatewayResult({ STATUS: '1', [name]: value })?.result[field];
    t.is(actual, read);
  });
}

test('reading never throws, whatever the fields', (t) => {
  fc.assert(
    fc.property(fc.dictionary(anyText(), anyText()), (sent) => {
      readGatewayResult({ ...sent, STATUS: '1' });
    }),
  );
  t.pass();
});

function paymentOf(over: RequestChanges) {
  const payment = evolve(noPayment, { type: 'PaymentRequested', data: request(over) });
  if (payment.status === 'none') throw new Error('nothing was requested');
  return opened(payment);
}

test('the hand-over form is signed, and its amount has two decimals', (t) => {
  const attempt = {
    at: requestedAt,
    mode: 'cc',
    bankCode: '',
    chargeSen: sen(2),
    sellerOrderNo: 'T-1',
  } as const;
  const responseUrl = 'https://pay.example/generic/response';
  const order = { payment: paymentOf({ amountSen: sen(3) }), attempt, responseUrl };
  const handedOver = handOverFields(order, 'secret');
  t.is(handedOver.AMOUNT, '0.05');
  t.is(verifyFields(handedOver, 'secret'), 'valid');
  t.false('TRANSAKSI_ID' in handedOver);
  const ofLand = handOverFields(
    { ...order, payment: paymentOf({ channel: 'landreg', reference: 'T/1' }) },
    'secret',
  );
  t.is(ofLand.TRANSAKSI_ID, 'T/1');
  t.is(verifyFields(ofLand, 'secret'), 'valid');
  const documented =
    /^## The hand-over form\n.*?(?=^## )/ms.exec(page)?.[0].match(/`[A-Z_]+`(?=.* \| )/g) ?? [];
  t.deepEqual(documented.map((name) => name.replaceAll('`', '')).sort(), Object.keys(ofLand).sort());
});
