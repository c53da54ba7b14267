// Asking for a payment: the first time, again with the same content, and with other content.
import test from 'ava';
import { paymentDecider, type RequestPayment } from '../../src/commands/payment.ts';
import type { PaymentEvent, PaymentRequested } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import {
  payer as aminah,
  applied,
  chosen,
  request,
  requested,
  requestPayment,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec } from '../support/spec.ts';

for (const channel of channels) {
  const first = requested(channel);
  const whenever: Record<string, PaymentEvent[]> = {
    'just requested': [first],
    chosen: [first, chosen(1)],
    failed: [first, chosen(1), applied(result(1, 'failed'))],
    pending: [first, chosen(1), applied(result(1, 'pending'))],
    succeeded: [first, chosen(1), succeeded(result(1, 'succeeded'))],
  };

  test(`${channel}: the first request opens the payment`, (t) => {
    checkSpec(t, paymentDecider, { given: [], when: requestPayment({ channel }), expect: [first] });
  });

  for (const [name, given] of Object.entries(whenever)) {
    test(`${channel}, ${name}: the same content at another time adds nothing`, (t) => {
      const when = requestPayment({ channel, at: '2026-11-21T05:06:07.000Z' });
      checkSpec(t, paymentDecider, { given, when, expect: [] });
    });
    test(`${channel}, ${name}: another amount is refused`, (t) => {
      const when = requestPayment({ channel, amountSen: sen(12_051) });
      checkSpec(t, paymentDecider, { given, when, expect: 'request_differs' });
    });
  }
}

const plain = request();
const land = request({ channel: 'landreg' });
const other: Record<string, PaymentRequested> = {
  channel: request({ channel: 'landreg', items: [] }),
  'merchant code': request({ merchant: { ...plain.merchant, code: 'water' } }),
  reference: request({ reference: 'INV-2026-000124' }),
  amount: request({ amountSen: sen(12_051) }),
  service: request({ service: 'Licence' }),
  description: request({ description: '' }),
  'callback URL': request({ callbackUrl: 'https://council.example/callback?' }),
  'redirect URL': request({ redirectUrl: 'https://council.example/paid/' }),
  'branch code': request({ branchCode: '0802' }),
  'added item': request({ items: [{ description: 'Quit rent', titleId: '', amountSen: sen(1) }] }),
  'extra, other value': request({ extra: { account_no: 'A-2' } }),
  'extra, other type': request({ extra: { account_no: 1 } }),
  'extra, one more': request({ extra: { account_no: 'A-1', note: null } }),
  'extra, gone': request({ extra: {} }),
};
for (const field of Object.keys(aminah)) {
  other[`payer's ${field}`] = request({ payer: { ...aminah, [field]: 'another' } });
}

for (const [name, differing] of Object.entries(other)) {
  test(`other content is refused: ${name}`, (t) => {
    const given: PaymentEvent[] = [{ type: 'PaymentRequested', data: plain }];
    const when: RequestPayment = { type: 'RequestPayment', request: differing };
    checkSpec(t, paymentDecider, { given, when, expect: 'request_differs' });
  });
}

const otherItems: Record<string, PaymentRequested['items']> = {
  'in another order': land.items.toReversed(),
  'one fewer': land.items.slice(1),
  'other title': land.items.map((item) => ({ ...item, titleId: 'X' })),
  'other description': land.items.map((item) => ({ ...item, description: 'X' })),
  'other split of the same total': land.items.map((item) => ({ ...item, amountSen: sen(6_025) })),
  'one twice': [...land.items, ...land.items],
};

for (const [name, items] of Object.entries(otherItems)) {
  test(`other items are refused: ${name}`, (t) => {
    const when = requestPayment({ channel: 'landreg', items });
    checkSpec(t, paymentDecider, { given: [requested('landreg')], when, expect: 'request_differs' });
  });
}

const same: Record<string, [PaymentRequested, PaymentRequested]> = {
  'the merchant was renamed in the configuration': [
    plain,
    request({ merchant: { ...plain.merchant, id: 8, name: 'City Council of Example' } }),
  ],
  'the keys of extra come in another order': [
    request({ extra: { a: 'x', b: { c: null, d: [1, 2] } } }),
    request({ extra: { b: { d: [1, 2], c: null }, a: 'x' } }),
  ],
};

for (const [name, [first, repeated]] of Object.entries(same)) {
  test(`the same content adds nothing although ${name}`, (t) => {
    const given: PaymentEvent[] = [{ type: 'PaymentRequested', data: first }];
    checkSpec(t, paymentDecider, { given, when: { type: 'RequestPayment', request: repeated }, expect: [] });
  });
}
