// What the history of a payment says of an event, where one kind of event can say more than one thing.
import test from 'ava';
import { nothingReported } from '../../../src/events/payment-result.ts';
import { eventText } from '../../../src/http/console/payments/event-text.ts';
import { sen } from '../../support/payments.ts';

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

const contradicted = (outcome: 'succeeded' | 'failed') =>
  ({
    type: 'GatewayResultContradicted',
    data: {
      at: '2026-11-20T01:05:00.000Z',
      source: 'gateway',
      verified: true,
      result: { ...nothingReported, outcome, amountSen: sen(12_050) },
      personal: { plain: { buyerName: '' } },
      evidence: { plain: {} },
      orderNo: 'A-1',
      standing: 'succeeded',
    },
  }) as const;

test('a success does not contradict a success, but an earlier report of the same money', (t) => {
  t.is(
    eventText(contradicted('succeeded'), 'en'),
    'The gateway reported RM 120.50: successful, which does not agree with an earlier report of the same money; the status stays',
  );
  t.regex(eventText(contradicted('succeeded'), 'ms'), /laporan terdahulu tentang wang yang sama/);
  t.regex(
    eventText(contradicted('failed'), 'en'),
    /: failed, which contradicts succeeded; the status stays$/,
  );
});
