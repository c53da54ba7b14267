// What the history of a payment says of an event, where one kind of event can say more than one thing.
import test from 'ava';
import { eventText } from '../../../src/http/console/payments/event-text.ts';

const named = (gatewayTransactionId: string) =>
  ({
    type: 'GatewayResultIdentified',
    data: {
      at: '2026-11-20T01:05:00.000Z',
      source: 'gateway',
      resultNo: 2,
      gatewayTransactionId,
      sellerOrderNo: 'A-1',
    },
  }) as const;

test('a report that names what another one lacked, and one that says which order it is about', (t) => {
  t.is(eventText(named('P1'), 'en'), 'The gateway named result 2: P1, A-1');
  t.is(eventText(named(''), 'en'), 'The gateway said that result 2 is about order A-1');
  t.regex(eventText(named(''), 'ms'), / menyatakan bahawa keputusan 2 adalah mengenai pesanan A-1$/);
});
