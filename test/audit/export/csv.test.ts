// The CSV: a row per payment that spreadsheets never run as a formula, without anything about the payer.
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvHead, csvRows } from '../../../src/audit/export/csv.ts';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { history as histories } from '../../projections/histories.ts';
import {
  payer as aminah,
  applied,
  chosen,
  duplicated,
  request,
  requested,
  result,
  resultAt,
  sen,
  succeeded,
} from '../../support/payments.ts';
import { stored } from '../helpers.ts';

function read(...streams: RecordedEvent[][]): Record<string, string>[] {
  const text = csvHead() + csvRows(streams);
  return parse(text, { bom: true, columns: true, record_delimiter: '\r\n' });
}

const asked = (reference: string): PaymentEvent => ({
  type: 'PaymentRequested',
  data: request({ reference }),
});

test('a row has the state of a payment, in RM and Malaysian time', (t) => {
  const events: PaymentEvent[] = [
    requested(),
    chosen(1, { chargeSen: sen(150) }),
    applied(result(1, 'failed')),
    succeeded(result(1, 'succeeded'), { late: true }),
    duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P2' }), 'P1'),
    {
      type: 'ExceptionResolved',
      data: { at: resultAt, resultNo: 3, resolution: 'refunded', note: 'given back', postingRule: 1 },
    },
  ];
  t.deepEqual(read(stored(events, 'ID')), [
    {
      transaction_id: 'ID',
      reference: 'INV-2026-000123',
      merchant: 'council',
      channel: 'generic',
      status: 'succeeded',
      amount_rm: '120.50',
      charge_rm: '1.50',
      total_rm: '122.00',
      refunded_rm: '0.00',
      reversed_rm: '0.00',
      mode: 'fpx',
      receipt_no: '7-20261120-HE7CEVBBN545JZX2',
      requested_at: '2026-11-20 09:00:00',
      paid_at: '2026-11-20 09:04:30',
      last_event_at: '2026-11-20 09:05:00',
      late: 'yes',
      exceptions: '2',
      exceptions_open: '1',
      events: '6',
      history: 'whole',
    },
  ]);
});

test('a payment whose events were changed has a row that says so', (t) => {
  const changed = stored([requested(), chosen(1)]);
  Object.assign(changed[1]?.data as object, { bankCode: 'other' });
  const beyondReading = stored([requested()]);
  Object.assign(beyondReading[0]?.data as object, { amountSen: 'much' });
  const [first, second] = read(changed, beyondReading);
  t.like(first, { status: 'requested', history: 'broken at event 1' });
  t.like(second, { status: 'unreadable', reference: '', events: '1', history: 'broken at event 0' });
});

test('any text survives a round trip, and no cell begins like a formula', (t) => {
  fc.assert(
    fc.property(fc.array(histories, { maxLength: 5 }), (all) => {
      const rows = read(...all.map((events) => stored(events)));
      t.is(rows.length, all.length);
      for (const [index, events] of all.entries()) {
        const [first] = events;
        if (first?.type !== 'PaymentRequested') throw new Error('A history begins with a request');
        const { reference } = first.data;
        const guarded = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(reference) ? `'${reference}` : reference;
        // Half a surrogate pair has no form in UTF-8.
        t.is(rows[index]?.reference?.toWellFormed(), guarded.toWellFormed());
      }
      for (const cell of rows.flatMap(Object.values)) t.notRegex(cell, /^[=+\-@\t\r]/);
    }),
  );
});

test('formulas, quotes, line ends and every script survive', (t) => {
  for (const [reference, cell] of [
    ['=HYPERLINK("http://x.example","a")', '\'=HYPERLINK("http://x.example","a")'],
    ['+60123456789', "'+60123456789"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\r=x', "'\r=x"],
    ['a=b', 'a=b'],
    ['Jalan "Dua", Ipoh', 'Jalan "Dua", Ipoh'],
    ['first\nsecond\r\nthird', 'first\nsecond\r\nthird'],
    ['林 வரி رسوم 🏛️', '林 வரி رسوم 🏛️'],
  ] as const)
    t.is(read(stored([asked(reference)]))[0]?.reference, cell);
  t.true(csvHead().startsWith('\ufefftransaction_id,'));
  t.is(csvRows([]), '');
});

test('the CSV has nothing about the payer', (t) => {
  const text = csvRows([stored([requested(), applied(result(1, 'succeeded'))])]).toLowerCase();
  for (const value of Object.values(aminah).filter((each) => each !== ''))
    t.false(text.includes(value.toLowerCase()), value);
});
