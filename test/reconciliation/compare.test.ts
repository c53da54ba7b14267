// Comparing the records of one transaction with the payment: every kind of discrepancy, and that nothing is left out.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../../src/events/payment.ts';
import type { ReportedResult } from '../../src/events/payment-result.ts';
import { type ExportSource, exportSources, theirStatuses } from '../../src/events/reconciliation.ts';
import { compareRecords } from '../../src/reconciliation/compare.ts';
import type { ExportRecord } from '../../src/reconciliation/export-format.ts';
import { count, noTotals } from '../../src/reconciliation/summary.ts';
import { results } from '../support/arbitraries.ts';
import {
  amountSen,
  applied,
  chosen,
  record as command,
  contradicted,
  duplicated,
  mismatched,
  orderNo,
  requested,
  resolvedAs,
  result,
  resultAt,
  sen,
  succeeded,
  superseded,
  transactionId,
} from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const fold = (...events: PaymentEvent[]): Payment => [requested(), ...events].reduce(evolve, noPayment);

let lines = 1;
function theirs(gatewayTransactionId: string, over: Partial<ExportRecord> = {}): ExportRecord {
  lines += 1;
  return {
    line: lines,
    transactionId,
    recordId: gatewayTransactionId || 'X1',
    gatewayTransactionId,
    sellerOrderNo: '',
    merchantCode: '',
    status: 'succeeded',
    amountSen,
    currency: '',
    paidAt: '2026-11-20T01:04:30.000Z',
    ...over,
  };
}

/** `class` of every verdict with the numbers of both sides, sorted. */
function verdicts(records: ExportRecord[], payment: Payment, source: ExportSource = 'gateway'): string[] {
  return compareRecords(records, payment, source)
    .map(({ class: name, record, resultNo }) => `${name} ${record?.recordId ?? '-'} ${resultNo ?? '-'}`)
    .toSorted();
}

const paid = fold(chosen(1), succeeded(result(1, 'succeeded')));
const failed = fold(chosen(1), applied(result(1, 'failed')));
const cancelled = fold(chosen(1), applied(result(1, 'cancelled')));
const pending = fold(chosen(1), applied(result(1, 'pending')));
const twice = fold(chosen(1), succeeded(result(1, 'succeeded')), duplicated(result(2, 'succeeded'), 'P1'));
const explained = [resolvedAs('explained', 2)].reduce<Payment>(evolve, twice);
const neverReceived = fold(chosen(1), mismatched(result(1, 'succeeded')), resolvedAs('explained', 1));
const mismatch = fold(chosen(1), mismatched(result(1, 'succeeded', { amountSen: sen(1) })));
const reversed: PaymentEvent = {
  type: 'PaymentReversed',
  data: {
    at: '2026-11-21T01:00:00.000Z',
    by: 'staff:A',
    resultNo: 2,
    note: 'letter 7',
    chargeNo: 1,
    amountSen,
    feeSen: sen(0),
    mode: 'fpx',
    postingRule: 3,
    merchantCode: 'council',
    deliveries: [],
  },
};
const takenBack = fold(
  chosen(1),
  succeeded(result(1, 'succeeded')),
  contradicted(result(1, 'failed'), 'succeeded'),
  reversed,
);
const paidAgain = fold(
  chosen(1),
  succeeded(result(1, 'succeeded')),
  contradicted(result(1, 'failed', { paidAt: '2026-11-20T02:00:00.000Z' }), 'succeeded'),
  contradicted(result(1, 'succeeded', { paidAt: '2026-11-20T03:00:00.000Z' }), 'succeeded'),
);
const inDollars = (currency: string) => fold(chosen(1), mismatched(result(1, 'succeeded', { currency })));
const unnamed = fold(chosen(1), succeeded(result(1, 'succeeded', { gatewayTransactionId: '' })));

const cases: [string, Payment, ExportRecord[], string[], ExportSource?][] = [
  ['the same', paid, [theirs('P1')], ['matched P1 1']],
  ['ringgit by any name', paid, [theirs('P1', { currency: 'RM' })], ['matched P1 1']],
  ['no payment', noPayment, [theirs('P1')], ['missingHere P1 -']],
  ['no record', paid, [], ['missingThere - 1']],
  ['another amount', paid, [theirs('P1', { amountSen: sen(1) })], ['amountDiffers P1 1']],
  ['another currency', paid, [theirs('P1', { currency: 'USD' })], ['amountDiffers P1 1']],
  ['another status', paid, [theirs('P1', { status: 'failed' })], ['statusDiffers P1 1']],
  ['paid there, failed here', failed, [theirs('P1')], ['statusDiffers P1 1']],
  ['paid there by a try unheard of', failed, [theirs('P9')], ['statusDiffers P9 -']],
  ['paid there, not heard of', fold(), [theirs('P1')], ['statusDiffers P1 -']],
  [
    'paid twice there, not heard of',
    fold(),
    [theirs('P1'), theirs('P2')],
    ['missingHere P2 -', 'statusDiffers P1 -'],
  ],
  ['a second charge there', paid, [theirs('P1'), theirs('P2')], ['matched P1 1', 'missingHere P2 -']],
  ['the second charge only', paid, [theirs('P2')], ['missingHere P2 -', 'missingThere - 1']],
  ['a duplicate set apart here', twice, [theirs('P1'), theirs('P2')], ['matched P1 1', 'matched P2 2']],
  ['a duplicate that they lack', twice, [theirs('P1')], ['matched P1 1', 'missingThere - 2']],
  ['a duplicate that never was, which they lack', explained, [theirs('P1')], ['matched P1 1']],
  ['a wrong amount that never was, which they lack', neverReceived, [], []],
  [
    'a duplicate that never was, which failed there',
    explained,
    [theirs('P1'), theirs('P2', { status: 'failed' })],
    ['matched P1 1', 'matched P2 -'],
  ],
  [
    'a duplicate that never was, paid there',
    explained,
    [theirs('P1'), theirs('P2')],
    ['matched P1 1', 'missingHere P2 -'],
  ],
  ['an amount set apart here', mismatch, [theirs('P1', { amountSen: sen(1) })], ['matched P1 1']],
  [
    'a charge twice, with two times',
    paid,
    [theirs('P1'), theirs('P1', { paidAt: '2026-11-21T01:04:30.000Z' })],
    ['matched P1 1', 'repeated P1 -'],
  ],
  ['a row twice', paid, [theirs('P1'), theirs('P1')], ['matched P1 1', 'repeated P1 -']],
  [
    'two charges without a number, at two times',
    paid,
    [theirs(''), theirs('', { paidAt: '2026-11-21T01:04:30.000Z' })],
    ['matched X1 1', 'missingHere X1 -'],
  ],
  [
    'a row of a failure twice',
    paid,
    [theirs('P1', { status: 'failed' }), theirs('P1', { status: 'failed' })],
    ['repeated P1 -', 'statusDiffers P1 1'],
  ],
  [
    'pending, then paid',
    paid,
    [theirs('P1', { status: 'pending' }), theirs('P1')],
    ['matched P1 1', 'repeated P1 -'],
  ],
  [
    'paid, then reversed',
    paid,
    [theirs('P1'), theirs('P1', { status: 'failed' })],
    ['matched P1 1', 'statusDiffers P1 1'],
  ],
  ['paid, then taken back: so it is here', takenBack, [theirs('P1', { status: 'failed' })], ['matched P1 2']],
  [
    'paid, then taken back: both rows',
    takenBack,
    [theirs('P1'), theirs('P1', { status: 'failed' })],
    ['matched P1 1', 'matched P1 2'],
  ],
  ['paid, taken back, paid again: one charge, which is missing once', paidAgain, [], ['missingThere - 1']],
  [
    'a contradiction by another charge of the same amount, which is missing too',
    fold(chosen(1), succeeded(result(1, 'succeeded')), contradicted(result(2, 'succeeded'), 'succeeded')),
    [],
    ['missingThere - 1', 'missingThere - 2'],
  ],
  [
    'paid, taken back, paid again: a record without a number is about that charge',
    paidAgain,
    [theirs('')],
    ['matched X1 1'],
  ],
  [
    'paid, and reported again for another order without a number: one charge',
    fold(
      chosen(1),
      succeeded(result(1, 'succeeded')),
      contradicted(result(2, 'succeeded', { gatewayTransactionId: '' }), 'succeeded'),
    ),
    [theirs('P1')],
    ['matched P1 1'],
  ],
  [
    'taken back here, pending there',
    takenBack,
    [theirs('P1', { status: 'pending' })],
    ['statusDiffers P1 2'],
  ],
  [
    'a failed try beside the paid one',
    paid,
    [theirs('P1'), theirs('P9', { status: 'failed' })],
    ['matched P1 1', 'matched P9 -'],
  ],
  ['a number that we lack', unnamed, [theirs('P1')], ['matched P1 1']],
  ['a number that they lack', paid, [theirs('')], ['matched X1 1']],
  [
    'another order than ours',
    unnamed,
    [theirs('P1', { sellerOrderNo: orderNo(2) })],
    ['missingHere P1 -', 'missingThere - 1'],
  ],
  [
    'another merchant',
    paid,
    [theirs('P1', { merchantCode: 'museum' })],
    ['missingHere P1 -', 'missingThere - 1'],
  ],
  [
    'failed, and cancelled to the gateway',
    failed,
    [theirs('P1', { status: 'cancelled' })],
    ['statusDiffers P1 1'],
  ],
  [
    'failed to the registry is cancelled here',
    cancelled,
    [theirs('P1', { status: 'failed' })],
    ['matched P1 1'],
    'registry',
  ],
  ['attempted, not heard of', fold(), [theirs('', { status: 'attempted' })], ['matched X1 -'], 'registry'],
  [
    'attempted, pending here',
    pending,
    [theirs('', { status: 'attempted' })],
    ['statusDiffers X1 1'],
    'registry',
  ],
  ['attempted, paid here', paid, [theirs('', { status: 'attempted' })], ['statusDiffers X1 1'], 'registry'],
  ['failed, not heard of', fold(), [theirs('P1', { status: 'failed' })], ['statusDiffers P1 -']],
  ['pending there, failed here', failed, [theirs('P9', { status: 'pending' })], ['statusDiffers P9 -']],
  ['a failed try beside a cancelled one', cancelled, [theirs('P9', { status: 'failed' })], ['matched P9 -']],
  ['paid to the registry, failed here', failed, [theirs('P1')], ['statusDiffers P1 1'], 'registry'],
  [
    'attempted to the registry is failed here',
    failed,
    [theirs('P1', { status: 'attempted' })],
    ['matched P1 1'],
    'registry',
  ],
  [
    'a charge without a number beside the one that is here',
    paid,
    [theirs('P1'), theirs('')],
    ['matched P1 1', 'missingHere X1 -'],
  ],
  [
    'charges without numbers are told apart by their amounts',
    fold(
      chosen(1),
      mismatched(result(1, 'succeeded', { gatewayTransactionId: '', amountSen: sen(1) })),
      succeeded(result(1, 'succeeded', { gatewayTransactionId: '' })),
    ),
    [theirs(''), theirs('', { recordId: 'X2', amountSen: sen(1) })],
    ['matched X1 2', 'matched X2 1'],
  ],
  [
    'a failed try without a number leaves the charge to the record of another amount',
    paid,
    [theirs('', { amountSen: sen(1) }), theirs('', { recordId: 'X2', status: 'failed' })],
    ['amountDiffers X1 1', 'matched X2 -'],
  ],
  [
    'an amount set apart here has not paid: the charge that would is unheard of',
    mismatch,
    [theirs('P1', { amountSen: sen(1) }), theirs('P2')],
    ['matched P1 1', 'statusDiffers P2 -'],
  ],
  ['dollars here, ringgit there', inDollars('USD'), [theirs('P1')], ['amountDiffers P1 1']],
  [
    'the latest row of a transaction counts, wherever it is in the file',
    failed,
    [
      theirs('P1', { recordId: 'last', status: 'failed', paidAt: '2026-11-20T01:05:30.000Z' }),
      theirs('P1', { recordId: 'first', status: 'pending' }),
    ],
    ['matched last 1', 'repeated first -'],
  ],
  [
    'a row without a time is older than one with a time',
    failed,
    [
      theirs('P1', { recordId: 'timed', status: 'failed' }),
      theirs('P1', { status: 'pending', paidAt: null }),
    ],
    ['matched timed 1', 'repeated P1 -'],
  ],
  [
    'of two rows without a time the later one counts',
    failed,
    [
      theirs('P1', { status: 'pending', paidAt: null }),
      theirs('P1', { recordId: 'later', status: 'failed', paidAt: null }),
    ],
    ['matched later 1', 'repeated P1 -'],
  ],
  [
    'rows without a number are of different tries',
    failed,
    [
      theirs('', { status: 'failed' }),
      theirs('', { recordId: 'X2', status: 'failed', paidAt: '2026-11-20T01:05:30.000Z' }),
    ],
    ['matched X1 1', 'matched X2 -'],
  ],
  [
    'paid without a number there, failed here: so the record of the failure is about another try',
    failed,
    [theirs('', { status: 'failed' }), theirs('', { recordId: 'X2' })],
    ['matched X1 -', 'statusDiffers X2 1'],
  ],
  [
    'a record without a number is about the result that counts',
    fold(chosen(1), chosen(2), applied(result(1, 'cancelled')), applied(result(2, 'failed'))),
    [theirs('', { status: 'failed' })],
    ['matched X1 2'],
  ],
  [
    'a record without a number is about the report that is in the books',
    fold(
      chosen(1),
      mismatched(result(1, 'succeeded', { gatewayTransactionId: '' })),
      duplicated(result(1, 'succeeded'), 'P0'),
      superseded(1),
    ),
    [theirs('')],
    ['matched X1 2'],
  ],
  [
    'an amount that a later report replaced here, and not there',
    fold(
      chosen(1),
      mismatched(result(1, 'succeeded', { amountSen: sen(1) })),
      superseded(1),
      succeeded(result(1, 'succeeded')),
    ),
    [theirs('P1', { amountSen: sen(1) })],
    ['amountDiffers P1 2'],
  ],
  [
    'a charge of another amount, which failed later',
    fold(chosen(1), succeeded(result(1, 'succeeded')), contradicted(result(1, 'failed'), 'succeeded')),
    [theirs('P1', { amountSen: sen(1) })],
    ['amountDiffers P1 1'],
  ],
  [
    'a failure of another amount',
    failed,
    [theirs('P1', { status: 'failed', amountSen: sen(1) })],
    ['matched P1 1'],
  ],
  ['unknown there and here', fold(), [theirs('P9', { status: 'not_found' })], ['matched P9 -'], 'registry'],
  [
    'a pending try beside the paid one',
    paid,
    [theirs('P1'), theirs('P9', { status: 'pending' })],
    ['matched P1 1', 'matched P9 -'],
  ],
  [
    'pending to the registry, failed here',
    failed,
    [theirs('P1', { status: 'pending' })],
    ['statusDiffers P1 1'],
    'registry',
  ],
  [
    'a currency in small letters there',
    inDollars('USD'),
    [theirs('P1', { currency: 'usd' })],
    ['matched P1 1'],
  ],
  [
    'a currency in small letters here',
    inDollars('usd'),
    [theirs('P1', { currency: 'USD' })],
    ['matched P1 1'],
  ],
];

for (const [name, payment, records, expected, source] of cases) {
  test(name, (t) => t.deepEqual(verdicts(records, payment, source), expected));
}

test('a verdict says what both sides have', (t) => {
  const first = (records: ExportRecord[], payment: Payment) => compareRecords(records, payment, 'gateway')[0];
  t.like(first([theirs('P9', { currency: 'RM' })], failed), {
    gatewayTransactionId: 'P9',
    merchantCode: 'council',
    paidAt: '2026-11-20T01:04:30.000Z',
    ours: { status: 'failed', amountSen, currency: '' },
    theirs: { status: 'succeeded', amountSen, currency: 'RM' },
  });
  const foreign = theirs('', { merchantCode: 'museum', paidAt: null });
  t.like(first([foreign], failed), {
    gatewayTransactionId: '',
    merchantCode: 'museum',
    paidAt: null,
    ours: null,
  });
  t.is(first([theirs('')], noPayment)?.merchantCode, '');
  t.is(first([theirs('P1', { amountSen: sen(1) })], paid)?.merchantCode, 'council');
  t.is(first([theirs('P2')], paid)?.merchantCode, 'council');
  t.like(first([], paid), {
    gatewayTransactionId: 'P1',
    merchantCode: 'council',
    paidAt: '2026-11-20T01:04:30.000Z',
    ours: { status: 'succeeded', amountSen, currency: '' },
    theirs: null,
  });
});

test('a result without a time was paid when it was recorded, a record without one nobody knows when', (t) => {
  const untimed = fold(chosen(1), succeeded(result(1, 'succeeded', { paidAt: null })));
  t.is(compareRecords([], untimed, 'gateway')[0]?.paidAt, resultAt);
  t.is(compareRecords([theirs('P1', { paidAt: null })], untimed, 'gateway')[0]?.paidAt, null);
});

test('a payment of which a part was paid is not paid to a record of more money', (t) => {
  const event: PaymentEvent = {
    type: 'AmountMismatchCredited',
    data: {
      ...{ at: resultAt, by: 'staff:A', resultNo: 1, note: 'x', amountSen: sen(1), merchantCode: 'council' },
      ...{
        effect: 'partlyPaid',
        paidSen: sen(1),
        paidAt: resultAt,
        receiptNo: '',
        deliveries: [],
        postingRule: 3,
      },
    },
  };
  const [, second] = compareRecords(
    [theirs('P1', { amountSen: sen(1) }), theirs('P2')],
    evolve(mismatch, event),
    'gateway',
  );
  t.like(second, { class: 'statusDiffers', ours: { status: 'requested' } });
});

/** Payments as results make them, whatever comes in which order. */
const payments = fc.array(results, { maxLength: 6 }).map((reported) =>
  reported.reduce<Payment>(
    (state, each: ReportedResult) => {
      const events = paymentDecider.decide(command(each), state);
      return events instanceof Refused ? state : events.reduce(evolve, state);
    },
    fold(chosen(1), chosen(2)),
  ),
);

const records = fc.array(
  fc.record({
    gatewayTransactionId: fc.constantFrom('', 'P1', 'P2', 'P3'),
    status: fc.constantFrom(...theirStatuses),
    amountSen: fc.constantFrom(amountSen, sen(amountSen + 150), sen(1)),
    sellerOrderNo: fc.constantFrom('', orderNo(1), orderNo(2)),
    merchantCode: fc.constantFrom('', 'council', 'museum'),
    currency: fc.constantFrom('', 'MYR', 'USD'),
    paidAt: fc.constantFrom(null, '2026-11-20T01:04:30.000Z', '2026-11-20T01:05:30.000Z'),
  }),
  { maxLength: 6 },
);

test('every record and every success has exactly one verdict', (t) => {
  fc.assert(
    fc.property(payments, records, fc.constantFrom(...exportSources), (payment, rows, source) => {
      const given = rows.map((row) => theirs(row.gatewayTransactionId, row));
      const judged = compareRecords(given, payment, source);
      const judgedLines = judged.flatMap(({ record }) => record?.line ?? []);
      t.deepEqual(judgedLines.toSorted(), given.map(({ line }) => line).toSorted());
      const charges = payment.status === 'none' ? [] : payment.results;
      for (const [index, { outcome, gatewayTransactionId: id, resolved }] of charges.entries()) {
        const missing = judged.filter((each) => each.class === 'missingThere' && each.resultNo === index + 1);
        const spokenOf = judged.some(
          (each) =>
            each.record &&
            (each.resultNo === index + 1 ||
              (id !== '' && each.resultNo !== null && each.record.gatewayTransactionId === id)),
        );
        const isCounted = outcome === 'succeeded' && resolved?.resolution !== 'superseded';
        t.is(missing.length, isCounted && !spokenOf ? 1 : 0);
      }
      for (const each of judged) {
        t.is(each.ours === null, each.class === 'missingHere' || each.class === 'repeated');
        t.is(each.theirs === null, each.class === 'missingThere');
        if (each.class === 'matched' && each.theirs?.status === 'succeeded')
          t.is(each.theirs.amountSen, each.ours?.amountSen ?? null, 'money that matches is the same money');
      }
    }),
    { numRuns: runs(500) },
  );
});

test('an export of exactly what is recorded here matches', (t) => {
  fc.assert(
    fc.property(payments, (payment) => {
      const recorded = payment.status === 'none' ? [] : payment.results;
      const charges = recorded.filter(
        ({ outcome, resolved }) => outcome === 'succeeded' && resolved?.resolution !== 'superseded',
      );
      const rows = charges.map((each) =>
        theirs(each.gatewayTransactionId, { ...each, status: 'succeeded', merchantCode: 'council' }),
      );
      const classes = new Set(compareRecords(rows, payment, 'gateway').map((each) => each.class));
      t.true(
        [...classes].every((each) => each === 'matched' || each === 'repeated'),
        [...classes].join(),
      );
    }),
    { numRuns: runs(500) },
  );
});

test('the sums count each success once, however many records of other attempts agree with it', (t) => {
  const totals = noTotals();
  const records = [theirs('P1'), theirs('P8', { status: 'failed' }), theirs('P9', { status: 'cancelled' })];
  for (const verdict of compareRecords(records, paid, 'gateway')) count(totals, verdict);
  t.deepEqual(totals.matched, { count: 3, oursSen: amountSen, theirsSen: amountSen });
});
