// Reading stored events: lifted from old versions, checked, and never trusted.
import test from 'ava';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { readPaymentEvent } from '../../src/events/payment.ts';
import { schemaVersion, upcast } from '../../src/events/upcast.ts';
import {
  payer as aminah,
  applied,
  chosen,
  plain,
  recorded,
  request,
  requested,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';

const metadata = { schemaVersion };
const failure = applied(result(1, 'failed'));

test('an event of version 1 is lifted', (t) => {
  t.deepEqual(upcast('ExceptionResolved', 1, { note: 'n' }), { note: 'n', postingRule: 1 });
});

test('an event of the current version, or of a type that never changed, is not lifted', (t) => {
  t.deepEqual(upcast('ExceptionResolved', 2, { note: 'n' }), { note: 'n' });
  for (const type of ['PaymentMethodChosen', 'toString'])
    t.deepEqual(upcast(type, 1, { note: 'n' }), { note: 'n' });
});

for (const version of [3, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
  test(`version ${version} is unknown to this program`, (t) => {
    t.throws(() => upcast('ExceptionResolved', version, {}), {
      message: /ExceptionResolved has schema version .* knows 1 to 2/,
    });
  });
}

test('an event is read as it was written', (t) => {
  for (const event of [requested('landreg'), chosen(1), failure, succeeded(result(1, 'succeeded'))]) {
    t.deepEqual(readPaymentEvent({ ...JSON.parse(JSON.stringify(event)), metadata }), event);
  }
});

const version1 = (type: string, data: unknown) =>
  readPaymentEvent({ type, data, metadata: { schemaVersion: 1 } }).data;

test('a result of version 1 leaves to rule 1 what it is about and sets in motion', (t) => {
  const reported = result(1, 'failed');
  const { at, source, verified } = recorded(reported);
  t.deepEqual(version1('PaymentFailed', { at, source, verified, result: reported }), failure.data);
});

for (const email of ['', 'aminah@example.my'])
  test(`a request of version 1 with the email "${email}" says whether the receipt is emailed`, (t) => {
    const payer = { ...aminah, email };
    const { emailReceipt: _, personal, fingerprint: __, ...data } = request({ payer });
    t.deepEqual(version1('PaymentRequested', { ...data, ...plain(personal) }), {
      ...data,
      personal,
      fingerprint: null,
      emailReceipt: email !== '',
    });
  });

const event = (type: string, data: unknown, more: object = {}) => ({ type, data, metadata, ...more });
const data = failure.data;
const unreadable: Record<string, { type: string; data: unknown; metadata: unknown }> = {
  'an unknown type': event('PaymentRefunded', data),
  'a type that every object has': event('constructor', data),
  'no metadata': event('PaymentFailed', data, { metadata: null }),
  'metadata that is no object': event('PaymentFailed', data, { metadata: 'schemaVersion' }),
  'no version': event('PaymentFailed', data, { metadata: {} }),
  'a newer version': event('PaymentFailed', data, { metadata: { schemaVersion: schemaVersion + 1 } }),
  'no data': event('PaymentFailed', undefined),
  bytes: event('PaymentFailed', new Uint8Array(4)),
  'a missing field': event('PaymentFailed', { ...data, at: undefined }),
  'a field too many': event('PaymentFailed', { ...data, receiptNo: 'R-1' }),
  'another outcome than its type says': event('PaymentFailed', { ...data, result: result(1, 'succeeded') }),
  'a success that reports a failure': event('PaymentSucceeded', {
    ...succeeded(result(1, 'succeeded')).data,
    result: result(1, 'failed'),
  }),
  'a contradiction that reports a success': event('GatewayResultContradicted', {
    ...data,
    result: result(1, 'succeeded'),
    standing: 'failed',
  }),
  'a posting rule that this program does not have': event('PaymentSucceeded', {
    ...succeeded(result(1, 'succeeded')).data,
    postingRule: 4,
  }),
  'a deliveries rule that this program does not have': event('PaymentFailed', {
    ...data,
    deliveries: 'rule 2',
  }),
  'a delivery of an unknown kind': event('PaymentFailed', {
    ...data,
    deliveries: [{ key: 'sms', kind: 'sms' }],
  }),
  'a callback without its address': event('PaymentFailed', {
    ...data,
    deliveries: [{ key: 'callback-1', kind: 'callback' }],
  }),
  'a request of version 1 without a payer': event('PaymentRequested', null, {
    metadata: { schemaVersion: 1 },
  }),
  'an unknown outcome': event('PaymentFailed', {
    ...data,
    result: { ...result(1, 'failed'), outcome: 'lost' },
  }),
  'half a sen': event('PaymentRequested', request({ amountSen: sen(0.5) })),
  'a negative amount': event('PaymentRequested', request({ amountSen: sen(-1) })),
  'an amount as text': event('PaymentRequested', { ...request(), amountSen: '1' }),
  'more sen than a number can count': event('PaymentRequested', request({ amountSen: sen(2 ** 53) })),
  'an attempt 0': event('PaymentMethodChosen', { ...chosen(1).data, attempt: 0 }),
};
for (const at of [
  '2026',
  '2026-11-20',
  '2026-11-20T01:00:00',
  '2026-11-20T09:00:00+08:00',
  '2026-13-20T01:00:00Z',
  '2026-garbage-Z',
  '+010000-01-01T00:00:00.000Z',
]) {
  unreadable[`a time ${at}`] = event('PaymentFailed', { ...data, at });
}

for (const [name, stored] of Object.entries(unreadable)) {
  test(`unreadable: ${name}`, (t) => {
    t.throws<UnreadableEvent>(() => readPaymentEvent(stored), { instanceOf: UnreadableEvent });
  });
}

test('the error of an unreadable event holds none of its values', (t) => {
  const payer = { ...aminah, icNo: 900101145678 };
  const personal = { plain: { payer, extra: {} } };
  const stored = event('PaymentRequested', { ...request(), personal });
  const error = t.throws(() => readPaymentEvent(stored), { instanceOf: UnreadableEvent });
  t.is(error?.message, 'PaymentRequested does not fit its schema at personal.plain.payer.icNo');
});
