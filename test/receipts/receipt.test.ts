// Payment → Receipt: one logic, checked on payments that real events fold to.
import test from 'ava';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import { statusCodeOf } from '../../src/receipts/payment-fields.ts';
import { receiptOf } from '../../src/receipts/receipt.ts';
import { explanationOf, headingOf, historyText, type Language } from '../../src/receipts/texts.ts';
import {
  payer as aminah,
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  opened,
  orderNo,
  succeeded as paid,
  request,
  requested,
  requestedAt,
  result,
  sen,
  superseded,
} from '../support/payments.ts';

function receiptAfter(...events: PaymentEvent[]) {
  const payment = events.reduce(evolve, noPayment);
  if (payment.status === 'none') throw new Error('no payment');
  return receiptOf(opened(payment));
}

const succeeded = (attempt: number, over = {}, late = false) =>
  paid(result(attempt, 'succeeded', over), { receiptNo: 'R-7', late });
const failed = (attempt: number) => applied(result(attempt, 'failed'));

test('before any result it is a statement of what is known', (t) => {
  t.like(receiptAfter(requested()), {
    isOfficial: false,
    status: 'requested',
    receiptNo: '',
    at: requestedAt,
    amount: 'RM 120.50',
    fee: '',
    total: 'RM 120.50',
    mode: '',
    bank: '',
    fpxNo: '',
    orderNo: '',
    history: [{ at: requestedAt, kind: 'requested' }],
  });
});

const wrong = mismatched(result(1, 'succeeded', { amountSen: sen(12_000) }));
const credited: PaymentEvent = {
  type: 'AmountMismatchCredited',
  data: {
    ...{ at: requestedAt, by: 'staff:A', postingRule: 3, merchantCode: 'council', deliveries: [], note: 'x' },
    ...{ resultNo: 1, amountSen: sen(12_000), effect: 'partlyPaid', paidSen: sen(12_000) },
    ...{ paidAt: requestedAt, receiptNo: '' },
  },
};

test('a wrong amount that is credited is told once in the history, and is no money besides', (t) => {
  const receipt = receiptAfter(requested(), chosen(1), wrong, credited);
  t.deepEqual(receipt.history.map(({ kind }) => kind).toSorted(), [
    'amountMismatch',
    'credited',
    'methodChosen',
    'requested',
  ]);
  t.deepEqual(receipt.otherCharges, []);
  t.deepEqual(receipt.notes, [{ kind: 'partlyPaid', amount: 'RM 120.00', outstanding: 'RM 0.50' }]);
  t.like(receiptAfter(requested(), chosen(1), wrong).otherCharges, [{ kind: 'wrongAmount', resolved: null }]);
});

test('a payment that the bank has taken back is not said to be received; a further charge does not matter', (t) => {
  const takenBack = (chargeNo: number): PaymentEvent => ({
    type: 'PaymentReversed',
    data: {
      ...{
        at: requestedAt,
        by: 'staff:A',
        postingRule: 3,
        merchantCode: 'council',
        deliveries: [],
        note: 'x',
      },
      ...{ chargeNo, resultNo: 3, amountSen: sen(12_050), feeSen: sen(0), mode: 'fpx' },
    },
  });
  const events = [
    requested(),
    chosen(1),
    succeeded(1),
    duplicated(result(2, 'succeeded', { gatewayTransactionId: 'P2' }), 'P1'),
    contradicted(result(1, 'failed'), 'succeeded'),
  ];
  const said = (...more: PaymentEvent[]) => explanationOf(receiptAfter(...events, ...more), 'en');
  t.regex(said(), /^The payment has been received/);
  t.regex(said(takenBack(2)), /^The payment has been received/);
  t.regex(said(takenBack(1)), /the bank has since taken it back\. Contact the agency\./);
});

test('a line of the history begins with a capital letter, also where the amount is unknown', (t) => {
  for (const lang of ['en', 'ms'] as const)
    for (const kind of [
      'amountMismatch',
      'duplicate',
      'refunded',
      'credited',
      'explained',
      'reversed',
    ] as const)
      t.regex(historyText({ at: requestedAt, kind, amount: '' }, lang), /^[A-Z]/);
});

test('once it has expired, or its agency has cancelled it, it says that nobody can pay any more', (t) => {
  const expiresAt = '2026-11-21T00:00:00.000Z';
  const receiptAt = (now: string, events: PaymentEvent[]) => {
    const asked = { type: 'PaymentRequested', data: request({ expiresAt }) } as const;
    const payment = [asked, ...events].reduce(evolve, noPayment);
    if (payment.status === 'none') throw new Error('no payment');
    return receiptOf(opened(payment), null, new Date(now));
  };
  const said = (now: string, events: PaymentEvent[], lang: Language = 'en') =>
    explanationOf(receiptAt(now, events), lang);
  const explained = (now: string, ...events: PaymentEvent[]) => said(now, [chosen(1), ...events]);
  const [before, after] = ['2026-11-20T23:59:59.999Z', expiresAt];
  const byPayer = applied(result(1, 'cancelled'));
  const cancelled = { ...byPayer, data: { ...byPayer.data, source: 'merchant' } } as PaymentEvent;
  t.regex(said(before, []), /^If you have just paid/);
  t.regex(explained(after), /^If you have just paid/, 'at the bank, while it expired');
  t.regex(explained(after, failed(1), chosen(2)), /^If you have just paid/);
  t.regex(said(after, []), /^No payment has been received, and this request can no longer be paid/);
  t.regex(said(after, [], 'ms'), /^Tiada bayaran diterima, dan permintaan ini tidak boleh dibayar lagi/);
  // Also before the expiry is recorded.
  const expired = receiptAt(after, []);
  t.like(expired, { status: 'cancelled', at: expiresAt });
  t.deepEqual(expired.history.at(-1), { at: expiresAt, kind: 'expired' });
  t.is(headingOf(expired, 'ms'), 'Pembayaran dibatalkan');
  for (const [now, events] of [
    [before, []],
    [after, [chosen(1)]],
  ] as const)
    t.like(receiptAt(now, [...events]), { status: 'requested', at: requestedAt });
  t.regex(explained(before, failed(1)), /You can try again/);
  t.regex(
    explained(after, failed(1)),
    /^No payment has been received, and this request can no longer be paid/,
  );
  t.regex(
    explained(before, cancelled),
    /^No payment has been received, and this request can no longer be paid/,
  );
  t.regex(explained(before, wrong, credited), /The rest is still to be paid/);
  t.regex(explained(after, wrong, credited), /^A part .* this request can no longer be paid/);
  t.regex(explained(after, succeeded(1)), /^The payment has been received/);
});

test('a success is official, and its total includes the fee of its own attempt', (t) => {
  const receipt = receiptAfter(
    requested(),
    chosen(1, { chargeSen: sen(150) }),
    failed(1),
    chosen(2, { mode: 'cc', chargeSen: sen(200) }),
    succeeded(1, { amountSen: sen(12_200) }, true),
  );
  t.like(receipt, {
    isOfficial: true,
    status: 'succeeded',
    receiptNo: 'R-7',
    at: '2026-11-20T01:04:30.000Z',
    amount: 'RM 120.50',
    fee: 'RM 1.50',
    total: 'RM 122.00',
    mode: 'fpx',
    bank: 'Maybank2U',
    fpxNo: 'P1',
    orderNo: orderNo(1),
  });
  t.deepEqual(
    receipt.history.map(({ kind }) => kind),
    ['requested', 'methodChosen', 'methodChosen', 'failed', 'lateSuccess'],
  );
});

test('the gateway number of a card payment is not an FPX number', (t) => {
  t.is(receiptAfter(requested(), succeeded(1, { mode: 'cc' })).fpxNo, '');
});

test('the history shows another amount and a second payment, but no contradiction', (t) => {
  const mismatch = mismatched(result(1, 'succeeded', { amountSen: sen(1) }));
  const duplicate = duplicated(result(2, 'succeeded'), 'P1');
  const contradiction = contradicted(result(1, 'failed'), 'succeeded');
  const kinds = receiptAfter(requested(), mismatch, succeeded(1), duplicate, contradiction).history.map(
    ({ kind }) => kind,
  );
  t.deepEqual(kinds, ['requested', 'amountMismatch', 'success', 'duplicate']);
});

test('while an attempt is open, an earlier failure does not say that nothing was charged', (t) => {
  const tried = [requested(), chosen(1), failed(1), chosen(2)];
  t.is(receiptAfter(...tried).status, 'requested');
  t.is(receiptAfter(...tried, failed(2)).status, 'failed');
});

test('the report of a wrong amount that a later report of the same money corrected is not told', (t) => {
  const mismatch = mismatched(result(1, 'succeeded', { amountSen: sen(1) }));
  const receipt = receiptAfter(requested(), mismatch, superseded(1), succeeded(1));
  t.deepEqual(receipt.otherCharges, []);
  t.deepEqual(
    receipt.history.map(({ kind }) => kind),
    ['requested', 'success'],
  );
});

test('several items of a successful payment have numbers of their own', (t) => {
  const items = (...events: PaymentEvent[]) => receiptAfter(requested('landreg'), ...events).items;
  t.deepEqual(
    items(succeeded(1)).map(({ receiptNo, titleId, amount }) => [receiptNo, titleId, amount]),
    [
      ['R-7-01', '080102GRN00012345', 'RM 100.00'],
      ['R-7-02', '', 'RM 20.50'],
    ],
  );
  t.deepEqual(
    items().map(({ receiptNo }) => receiptNo),
    ['', ''],
  );
});

for (const [icNo, shown] of [
  ['900101145678', '********5678'],
  ['A-123', '*-123'],
  ['1234', '****'],
  ['𠮷𠮷𠮷𠮷𠮷', '*𠮷𠮷𠮷𠮷'],
  ['', ''],
] as const) {
  test(`the IC number "${icNo}" is shown as "${shown}"`, (t) => {
    const payer = { ...aminah, icNo };
    t.is(receiptAfter({ type: 'PaymentRequested', data: request({ payer }) }).icNo, shown);
  });
}

test('statuses have the codes of the interface document', (t) => {
  const statuses = ['failed', 'succeeded', 'cancelled', 'pending', 'requested'] as const;
  t.deepEqual(
    statuses.map((status) => statusCodeOf({ status, attempts: [], results: [] })),
    ['0', '1', '2', '3', '3'],
  );
});
