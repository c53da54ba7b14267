// The documented fields of a payment, before and after its result.
import test from 'ava';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import { adjustmentFields, paymentFields } from '../../src/receipts/payment-fields.ts';
import { receiptOf } from '../../src/receipts/receipt.ts';
import { noteText, otherChargeTexts } from '../../src/receipts/texts.ts';
import {
  payer as aminah,
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  opened,
  request,
  requested,
  resolvedAs,
  result,
  sen,
  succeeded,
  transactionId,
} from '../support/payments.ts';

function fieldsAfter(...events: readonly PaymentEvent[]) {
  const payment = events.reduce(evolve, noPayment);
  if (payment.status === 'none') throw new Error('nothing was requested');
  return paymentFields(opened(payment));
}

test('a success fills every field', (t) => {
  const charged = chosen(1, { chargeSen: sen(150) });
  const paid = succeeded(result(1, 'succeeded', { amountSen: sen(12_200) }));
  t.deepEqual(fieldsAfter(requested(), charged, paid), {
    transaction_id: transactionId,
    trans_id: 'INV-2026-000123',
    status: '1',
    payment_status: 'Successful',
    receipt_no: '7-20261120-HE7CEVBBN545JZX2',
    payment_datetime: '2026-11-20 09:04:30',
    buyer_name: 'AMINAH BINTI ISMAIL',
    amount: '122.00',
    payment_mode: 'FPX Online Banking (Individual)',
    fpx_charge: '1.50',
    buyer_bank: 'Maybank2U',
    fpx_transaction_no: 'P1',
    gateway_transaction_no: 'P1',
    seller_order_no: `${transactionId}-1`,
    merchant_code: 'council',
    description: 'Second half of 2026',
    service: 'Assessment tax',
    amount_received: '',
    status_detail: '',
  });
});

const stranger: PaymentEvent = {
  type: 'PaymentRequested',
  data: request({ payer: { ...aminah, name: '' } }),
};

test('before any result unknown fields are empty, and none is missing', (t) => {
  const fields = fieldsAfter(stranger);
  t.deepEqual(Object.keys(fields), Object.keys(fieldsAfter(requested(), applied(result(1, 'succeeded')))));
  t.like(fields, { status: '3', payment_status: 'Pending', amount: '120.50', fpx_charge: '0.00' });
  const empty = Object.entries(fields).filter(([, value]) => value === '');
  t.deepEqual(
    empty.map(([name]) => name),
    [
      'receipt_no',
      'payment_datetime',
      'buyer_name',
      'payment_mode',
      'buyer_bank',
      'fpx_transaction_no',
      'gateway_transaction_no',
      'seller_order_no',
      'amount_received',
      'status_detail',
    ],
  );
});

for (const [outcome, status, text] of [
  ['failed', '0', 'Failed'],
  ['cancelled', '2', 'Cancelled'],
  ['pending', '3', 'Pending'],
] as const) {
  test(`a payment that is ${outcome} says ${status} and ${text}, and has no receipt number`, (t) => {
    const fields = fieldsAfter(
      requested(),
      chosen(1),
      applied(result(1, outcome, { mode: 'cc', paidAt: null })),
    );
    t.like(fields, {
      status,
      payment_status: text,
      receipt_no: '',
      payment_mode: 'Credit Card',
      fpx_transaction_no: '',
      gateway_transaction_no: 'P1',
      payment_datetime: '2026-11-20 09:05:00',
    });
    const silent = {
      mode: '',
      buyerBank: '',
      buyerName: '',
      gatewayTransactionId: '',
      paidAt: null,
    } as const;
    const unnamed = fieldsAfter(stranger, applied(result(1, outcome, silent)));
    t.deepEqual(Object.keys(unnamed), Object.keys(fields));
    t.true(Object.values(unnamed).every((value) => typeof value === 'string'));
    t.like(unnamed, { status, payment_status: text, receipt_no: '', buyer_name: '', payment_mode: '' });
  });
}

const failed = [requested(), chosen(1), applied(result(1, 'failed'))];
const wrong = mismatched(result(2, 'succeeded', { amountSen: sen(12_150), paidAt: null }));

test('a wrong amount is pending, after a failure too, and says what was received', (t) => {
  const fields = fieldsAfter(...failed, chosen(2), wrong);
  t.like(fields, {
    status: '3',
    payment_status: 'Pending',
    receipt_no: '',
    amount: '120.50',
    amount_received: '121.50',
    status_detail: 'wrong_amount',
    gateway_transaction_no: 'P2',
    seller_order_no: `${transactionId}-2`,
  });
});

test('two wrong amounts are added up; one that cannot be read, or in another currency, leaves the sum open', (t) => {
  const another = (over: object) => mismatched(result(3, 'succeeded', { amountSen: sen(100), ...over }));
  t.is(fieldsAfter(requested(), wrong, another({})).amount_received, '122.50');
  t.is(fieldsAfter(requested(), wrong, another({ amountSen: null })).amount_received, '');
  t.is(fieldsAfter(requested(), wrong, another({ currency: 'USD' })).amount_received, '');
});

for (const [resolution, status, received] of [
  ['refunded', '0', ''],
  ['explained', '0', ''],
  ['credited', '3', '121.50'],
] as const) {
  test(`a wrong amount that was ${resolution} says so, with the status ${status}`, (t) => {
    const fields = fieldsAfter(...failed, wrong, resolvedAs(resolution, 2));
    t.like(fields, {
      status,
      amount_received: received,
      status_detail: `wrong_amount_${resolution}`,
    });
  });
}

test('once the payment is paid, a wrong amount is no part of it', (t) => {
  const fields = fieldsAfter(...failed, wrong, succeeded(result(3, 'succeeded')));
  t.like(fields, { status: '1', amount_received: '', status_detail: '', gateway_transaction_no: 'P3' });
});

const adjusted = {
  at: '2026-11-22T02:00:00.000Z',
  by: 'staff:A',
  postingRule: 3 as const,
  merchantCode: 'council',
  deliveries: [],
};
const returned = { ...adjusted, chargeNo: 1, feeSen: sen(0), mode: 'fpx' } as const;
const paidNow = succeeded(result(1, 'succeeded'));
const refunded = {
  type: 'PaymentRefunded',
  data: { ...returned, amountSen: sen(2_000), gatewayReference: 'RF <1>', reason: 'x' },
} as const satisfies PaymentEvent;
const reversed: PaymentEvent = {
  type: 'PaymentReversed',
  data: { ...returned, amountSen: sen(10_050), resultNo: 2, note: 'x' },
};
const failure = contradicted(result(1, 'failed'), 'succeeded');

test('a payment that was refunded and reversed stays successful, and the additional fields say what happened', (t) => {
  const events = [requested(), chosen(1), paidNow, refunded, failure, reversed];
  t.like(fieldsAfter(...events), { status: '1', payment_status: 'Successful', amount: '120.50' });
  const payment = events.reduce(evolve, noPayment);
  if (payment.status === 'none') return t.fail();
  t.deepEqual(adjustmentFields(opened(payment)), {
    amount_refunded: '20.00',
    reversed_datetime: '2026-11-22 10:00:00',
  });
  const receipt = receiptOf(opened(payment));
  t.deepEqual(otherChargeTexts(receipt, 'en'), [
    'Refunded on 22 November 2026: RM 20.00, reference RF <1>.',
    'Reversed on 22 November 2026: the bank has taken RM 100.50 back.',
  ]);
  t.deepEqual(otherChargeTexts(receipt, 'ms'), [
    'Dibayar balik pada 22 November 2026: RM 20.00, rujukan RF <1>.',
    'Pembayaran diterbalikkan pada 22 November 2026: pihak bank telah mengambil semula RM 100.50.',
  ]);
  const [first] = receipt.notes;
  t.false(first && noteText(first, 'en', { isPublic: true }).includes('RF'), 'not for everybody');
});

test('the refund of a further charge does not read as one of the payment', (t) => {
  const again = duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P2' }), 'P1');
  const of = (chargeNo: number): PaymentEvent => ({
    ...refunded,
    data: { ...refunded.data, chargeNo, amountSen: sen(12_050) },
  });
  const noteAfter = (chargeNo: number) => {
    const payment = [requested(), chosen(1), paidNow, again, of(chargeNo)].reduce(evolve, noPayment);
    const [note] = payment.status === 'none' ? [] : receiptOf(opened(payment)).notes;
    return note && noteText(note, 'en', { isPublic: true });
  };
  t.is(noteAfter(1), 'Refunded on 22 November 2026: RM 120.50.');
  const text = 'This was a further charge: the payment itself is not affected.';
  t.is(noteAfter(2), `Refunded on 22 November 2026: RM 120.50. ${text}`);
});

test('the refund of a part of a payment reads as one of a further charge only if it went back before the payment was paid', (t) => {
  const part = mismatched(result(1, 'succeeded', { amountSen: sen(12_000) }));
  const credited: PaymentEvent = {
    type: 'AmountMismatchCredited',
    data: {
      ...{ ...adjusted, resultNo: 1, note: 'x', amountSen: sen(12_000), effect: 'partlyPaid' },
      ...{ paidSen: sen(12_000), paidAt: adjusted.at, receiptNo: '' },
    },
  };
  const rest = succeeded(result(2, 'succeeded'), { at: '2026-11-22T03:00:00.000Z' });
  const noteAfter = (...events: PaymentEvent[]) => {
    const payment = [requested(), chosen(1), part, credited, ...events].reduce(evolve, noPayment);
    const [note] = payment.status === 'none' ? [] : receiptOf(opened(payment)).notes;
    return note && noteText(note, 'en');
  };
  const later = { ...refunded, data: { ...refunded.data, at: '2026-11-23T02:00:00.000Z' } };
  t.is(noteAfter(chosen(2), rest, later), 'Refunded on 23 November 2026: RM 20.00, reference RF <1>.');
  t.regex(noteAfter(refunded, chosen(2), rest) ?? '', /^Refunded on 22 .*This was a further charge/);
});

test('a wrong amount that was credited is what was paid; a part of it is 3, with what was received', (t) => {
  const wrong = mismatched(result(1, 'succeeded', { amountSen: sen(12_000) }));
  const credited = (effect: 'paid' | 'partlyPaid', resultNo = 1): PaymentEvent => ({
    type: 'AmountMismatchCredited',
    data: {
      ...adjusted,
      resultNo,
      note: 'x',
      amountSen: sen(12_000),
      effect,
      paidSen: sen(12_000),
      paidAt: adjusted.at,
      receiptNo: effect === 'paid' ? 'R-9' : '',
    },
  });
  const begun = [requested(), chosen(1, { chargeSen: sen(150) }), wrong];
  t.like(fieldsAfter(...begun, credited('paid')), {
    status: '1',
    amount: '120.00',
    fpx_charge: '0.00',
    receipt_no: 'R-9',
    status_detail: '',
  });
  t.like(fieldsAfter(...begun, credited('partlyPaid')), {
    status: '3',
    payment_status: 'Pending',
    receipt_no: '',
    amount_received: '120.00',
    status_detail: 'partly_paid',
  });
  const awaited = applied(result(2, 'pending'));
  t.like(fieldsAfter(...begun, chosen(2), awaited, credited('partlyPaid')), {
    payment_status: 'Pending',
    amount_received: '120.00',
    status_detail: 'partly_paid',
  });
  const returned: PaymentEvent = {
    type: 'PaymentRefunded',
    data: {
      ...adjusted,
      chargeNo: 1,
      amountSen: sen(12_000),
      feeSen: sen(0),
      mode: 'fpx',
      gatewayReference: 'RF-1',
      reason: '',
    },
  };
  t.like(fieldsAfter(...begun, credited('partlyPaid'), returned), {
    status: '3',
    amount_received: '',
    status_detail: 'wrong_amount_refunded',
  });
  // Its attempt had been pending: no bank has anything more to say.
  const pending = [requested(), chosen(1), applied(result(1, 'pending')), wrong, credited('partlyPaid', 2)];
  t.is(fieldsAfter(...pending).status_detail, 'partly_paid');
  const payment = pending.reduce(evolve, noPayment);
  const notes = payment.status === 'none' ? [] : receiptOf(opened(payment)).notes;
  t.deepEqual(notes, [{ kind: 'partlyPaid', amount: 'RM 120.00', outstanding: 'RM 0.50' }]);
});
