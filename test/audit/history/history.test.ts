// The history of a payment: at a revision or a time it is the fold of the events until then.
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { entriesUntil, historyOf, readUntil } from '../../../src/audit/history/history.ts';
import { historyText } from '../../../src/audit/history/text.ts';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { history as histories } from '../../projections/histories.ts';
import {
  payer as aminah,
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  refunded,
  requested,
  requestedAt,
  result,
  resultAt,
  sen,
} from '../../support/payments.ts';
import { foldOf, stored } from '../helpers.ts';

const paid = () =>
  stored([requested(), chosen(1), applied(result(1, 'failed')), applied(result(1, 'succeeded'))]);

test('the state at revision N is the fold of the first N + 1 events', (t) => {
  fc.assert(
    fc.property(histories, fc.nat(), (events, at) => {
      const revision = at % events.length;
      const entries = entriesUntil(historyOf(stored(events)), { revision });
      t.is(entries.length, revision + 1);
      t.deepEqual(entries.at(-1)?.state, foldOf(events.slice(0, revision + 1)));
    }),
  );
});

test('the state at a time is the fold of the events until the first that is later', (t) => {
  fc.assert(
    fc.property(histories, fc.nat(), (events, chosenEvent) => {
      const at = new Date(events[chosenEvent % events.length]?.data.at ?? 0);
      const known: PaymentEvent[] = [];
      for (const event of events) {
        if (new Date(event.data.at) > at) break;
        known.push(event);
      }
      const all = historyOf(stored(events));
      if (known.length === 0) {
        t.throws(() => entriesUntil(all, { at }), { message: /not requested until later/ });
        return;
      }
      const entries = entriesUntil(all, { at });
      t.is(entries.length, known.length);
      t.deepEqual(entries.at(-1)?.state, foldOf(known));
    }),
  );
});

test('personal data that an early release wrote in plain text are not shown once they are erased', (t) => {
  const golden = new URL('../../events/golden/histories-v1.jsonl', import.meta.url);
  const [line = ''] = readFileSync(golden, 'utf8').split('\n');
  const early: PaymentEvent[] = JSON.parse(line).events;
  const erased: PaymentEvent = {
    type: 'PersonalDataErased',
    data: { at: resultAt, keys: [], reason: 'requested' },
  };
  const shown = (events: readonly PaymentEvent[]) =>
    JSON.stringify(
      historyOf(
        stored(events).map((event, index) =>
          index < early.length
            ? { ...event, metadata: { ...Object(event.metadata), schemaVersion: 1 } }
            : event,
        ),
      ).entries,
    );
  t.regex(shown(early), /Aminah.*"raw":\{"f 3":"Oa"/);
  t.notRegex(shown([...early, erased]), /Aminah|900101145678|A-1|"f 3"/);
});

test('all of a history is JSON', (t) => {
  fc.assert(
    fc.property(histories, (events) => {
      const { entries } = historyOf(stored(events));
      t.deepEqual(JSON.parse(JSON.stringify(entries)), entries);
    }),
  );
});

test('an untouched stream is whole; a changed value and a removed event are reported', (t) => {
  fc.assert(
    fc.property(histories, fc.nat(), fc.nat(3), (events, at, how) => {
      const index = at % events.length;
      const whole = stored(events);
      t.deepEqual(historyOf(whole).verdict, { kind: 'whole' });
      const changed = structuredClone(whole);
      const event = changed[index];
      const next = changed[index + 1];
      if (!event) throw new Error('There is no such event');
      if (how === 0) Object.assign(event.data as object, { at: '2019-01-01T00:00:00.000Z' });
      if (how === 1) Object.assign(event.metadata as object, { actor: 'staff:somebody' });
      if (how === 2) event.metadata = null;
      if (how === 3 && !next) return;
      if (how === 3) changed.splice(index, 1);
      const { verdict } = historyOf(changed);
      t.deepEqual(verdict, { kind: 'broken', revision: how === 3 ? index + 1 : index });
    }),
  );
});

test('an intact event that this program cannot read is distinguished from one that was changed', (t) => {
  const newer = stored([
    requested(),
    { type: 'PaymentRefunded', data: { at: resultAt } } as never,
    chosen(1),
  ]);
  const { verdict, entries } = historyOf(newer);
  t.deepEqual(verdict, { kind: 'unreadable', revision: 1 });
  t.deepEqual(
    entries.map(({ at, fits }) => [at, fits]),
    [
      [requestedAt, true],
      [null, true],
      [requestedAt, true],
    ],
  );
  t.regex(
    historyText({ verdict, entries }),
    /^Event 1 is as it was written, but this program cannot read it/m,
  );
});

test('a time is read with any offset, or as Malaysian time; a day means all of it', (t) => {
  for (const [at, moment] of [
    ['2026-11-20T14:00:00+08:00', '2026-11-20T06:00:00.999Z'],
    ['2026-11-20T06:00:00Z', '2026-11-20T06:00:00.999Z'],
    ['2026-11-20T02:00:00.250-04:00', '2026-11-20T06:00:00.250Z'],
    ['2026-11-20 14:00', '2026-11-20T06:00:00.999Z'],
    ['2026-11-20T14:00:30', '2026-11-20T06:00:30.999Z'],
    ['2026-11-20', '2026-11-20T15:59:59.999Z'],
  ] as const)
    t.deepEqual(readUntil({ at }), { at: new Date(moment) }, at);
  for (const at of [
    '',
    'now',
    '2026-02-30',
    '2026-11-20T25:00',
    '2026-11-20T14:00+99:00',
    '1e9',
    '20.11.2026',
  ])
    t.throws(() => readUntil({ at }), { message: /^at must be a time/ }, at);
  t.deepEqual(readUntil({ revision: '3' }), { revision: 3 });
  for (const revision of ['-1', '1.5', 'last', ''])
    t.throws(() => readUntil({ revision }), { message: /^revision must be/ }, revision);
  t.throws(() => readUntil({ at: '2026-11-20', revision: '1' }), { message: /Either/ });
  t.is(readUntil({}), null);
});

test('a time before the first event and a revision after the last are refused', (t) => {
  const whole = historyOf(paid());
  t.throws(() => entriesUntil(whole, { at: new Date('2026-11-20T00:59:59.999Z') }), {
    message: /not requested until later/,
  });
  t.throws(() => entriesUntil(whole, { revision: 4 }), { message: /at most 3/ });
  t.throws(() => entriesUntil(historyOf([]), null), { message: 'Payment not found' });
});

test('every event is shown with its time, its actor and the status after it, without the payer', (t) => {
  const text = historyText(historyOf(paid()));
  t.regex(text, /0 {2}2026-11-20T09:00:00\+08:00 {2}PaymentRequested +requested +gateway/);
  t.regex(text, /2 .*PaymentFailed +failed/);
  t.regex(text, /3 .*PaymentSucceeded +succeeded/);
  t.regex(text, /^The chain of 4 events is whole\.$/m);
  for (const value of Object.values(aminah).filter((each) => each !== ''))
    t.false(text.toLowerCase().includes(value.toLowerCase()), value);
});

test('the summary has status, amount, attempts, receipt, undelivered deliveries, exceptions and actions of staff', (t) => {
  const events: PaymentEvent[] = [
    requested(),
    chosen(1, { chargeSen: sen(50) }),
    mismatched(result(1, 'succeeded', { gatewayTransactionId: 'P9' })),
    applied(result(1, 'succeeded')),
    contradicted(result(1, 'failed'), 'succeeded'),
    duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P2' }), 'P1'),
    {
      type: 'ExceptionResolved',
      data: { at: resultAt, resultNo: 4, resolution: 'refunded', note: 'Aminah rang', postingRule: 1 },
    },
    {
      type: 'ReceiptEmailAbandoned',
      data: { at: resultAt, delivery: 'email', attempt: 1, durationMs: 5, reason: 'refused' },
    },
    refunded({ by: 'staff:U1' }),
  ];
  const actorOf = ({ type }: PaymentEvent) => (type === 'ExceptionResolved' ? 'staff:U1' : 'gateway');
  const whole = historyOf(stored(events, 'X', actorOf));
  t.is(
    historyText(whole).split('\n\n')[2],
    `After event 8:
  Status      succeeded
  Amount      RM 120.50
  Reference   INV-2026-000123 of council (generic)
  Attempts    1, the last by fpx as order 5K3M9QW2Z7TCV8XN4RBJ6HYDFE-1, with a fee of RM 0.50
  Receipt     7-20261120-HE7CEVBBN545JZX2
  Refunded    RM 20.00 at 2026-11-20T09:05:00+08:00
  Undelivered callback-1: due at 2026-11-20T09:05:00+08:00, after 0 attempts
              email: given up after 1 attempt
  Exception   amountMismatch of RM 120.50 in result 1: open
              contradiction of RM 120.50 in result 3: open
              duplicate of RM 120.50 in result 4: refunded 2026-11-20T09:05:00+08:00
  Staff       ExceptionResolved by staff:U1 at 2026-11-20T09:05:00+08:00 (event 6)`,
  );
  const before = historyText(whole, { revision: 1 });
  t.regex(before, /^After event 1:\n {2}Status {6}requested$/m);
  t.regex(before, /^ {2}Staff {7}none$/m);
  t.regex(before, /^The chain of 9 events is whole\.\n7 later events not shown\.$/m);
  t.notRegex(historyText(whole), /not shown/);
});

test('the time shown is the one that the chain covers; an event that cannot be read is shown too', (t) => {
  const moved = paid().map((event) => ({ ...event, created: new Date('2030-01-01T00:00:00.000Z') }));
  t.is(historyText(historyOf(moved)), historyText(historyOf(paid())));
  const unreadable = structuredClone(paid());
  Object.assign(unreadable[3]?.data as object, { source: 'nobody' });
  const text = historyText(historyOf(unreadable));
  t.regex(text, /3 {2}unreadable +PaymentSucceeded +failed +gateway {2}CHAIN BROKEN/);
  t.regex(text, /^The chain is broken at event 3: it, or the one before it, is not what was written\.$/m);
});

test('data that was put into the store cannot control the terminal', (t) => {
  const [first] = stored([requested()]);
  if (!first) throw new Error('There is no event');
  const hostile = { ...first, type: 'Payment\u001b[2JRequested\u202e\n', metadata: { actor: 'a\rb' } };
  const text = historyText(historyOf([hostile]));
  for (const sign of ['\u001b', '\r', '\u202e']) t.false(text.includes(sign));
  const odd = { toString: 1, valueOf: 1 };
  for (const change of [
    { data: deep(50_000) },
    { data: { ...(first.data as object), amountSen: odd } },
    { data: odd },
    { metadata: { ...(first.metadata as object), hash: odd } },
    { metadata: { ...(first.metadata as object), schemaVersion: odd } },
    { metadata: [] },
    { type: 'toString' },
  ])
    t.deepEqual(historyOf([{ ...first, ...change }, ...stored([chosen(1)])]).verdict, {
      kind: 'broken',
      revision: 0,
    });
});

function deep(levels: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
