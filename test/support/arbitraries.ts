// Arbitrary payment events and commands for fast-check. Few different ids, amounts and banks, so that they meet.
import fc from 'fast-check';
import type { ChoosePaymentMethod } from '../../src/commands/payment.ts';
import { paymentModes } from '../../src/common/payment-modes.ts';
import type { PlannedDelivery } from '../../src/events/deliveries.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import { outcomes, type ReportedResult, registryStatuses, sources } from '../../src/events/payment-result.ts';
import {
  creditEffects,
  exceptionResolutions as resolutions,
  resolutions as staffResolutions,
} from '../../src/events/recorded-result.ts';
import { anyText } from './any-text.ts';
import { amountSen, choose, orderNo, recorded, request, sen } from './payments.ts';

const times = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((moment) => moment.toISOString());
const amounts = fc.constantFrom(amountSen, sen(amountSen + 150), sen(1));
const orderNos = fc.constantFrom('', 'unknown', orderNo(1), orderNo(2), orderNo(3));
const gatewayTransactionIds = fc.constantFrom('', 'P1', 'P2', 'P3');

export const results: fc.Arbitrary<ReportedResult> = fc.record({
  outcome: fc.constantFrom(...outcomes),
  mode: fc.constantFrom('', ...paymentModes),
  sellerOrderNo: orderNos,
  gatewayTransactionId: gatewayTransactionIds,
  amountSen: fc.option(amounts),
  currency: fc.constantFrom('', 'MYR', 'USD'),
  paidAt: fc.option(times),
  receiptNo: fc.constantFrom('', 'R-1'),
  buyerBank: fc.string(),
  buyerName: anyText(),
  raw: fc.dictionary(fc.string(), fc.string()),
});

export const choices: fc.Arbitrary<ChoosePaymentMethod> = fc
  .record({
    attempt: fc.integer({ min: 1, max: 4 }),
    mode: fc.constantFrom('fpx', 'cc'),
    bankCode: fc.constantFrom('', 'MBB0228'),
    chargeSen: fc.constantFrom(sen(0), sen(150)),
  })
  .map((choice) => choose(choice.attempt, choice));

const deliveryLists: fc.Arbitrary<PlannedDelivery[] | 'rule 1'> = fc.oneof(
  fc.constant('rule 1' as const),
  fc.uniqueArray(
    fc.constantFrom<PlannedDelivery>(
      { key: 'callback-1', kind: 'callback', url: 'https://council.example/callback' },
      { key: 'item-01', kind: 'item', item: 1 },
      { key: 'email', kind: 'email' },
    ),
    { selector: ({ key }) => key },
  ),
);

/** Any event that its schema lets through, whether or not any command could have led to it. */
export const events: fc.Arbitrary<PaymentEvent> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...channels).map(requestedEvent) },
  { weight: 3, arbitrary: choices.chain((choice) => orderNos.map((order) => chosenEvent(choice, order))) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(results, fc.constantFrom(...sources), fc.nat(), fc.boolean(), fc.option(orderNos), deliveryLists)
      .map(resultEvent),
  },
  { weight: 3, arbitrary: deliveryEvents() },
  { weight: 1, arbitrary: noteEvents() },
  { weight: 2, arbitrary: fc.tuple(times, fc.nat(), orderNos).map(requeryEvent) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(times, fc.integer({ min: 1, max: 6 }), fc.constantFrom(...resolutions), fc.string())
      .map(resolvedEvent),
  },
  { weight: 2, arbitrary: adjustmentEvents() },
  {
    weight: 2,
    arbitrary: eventOf('GatewayResultIdentified', {
      at: times,
      source: fc.constantFrom(...sources),
      resultNo: fc.integer({ min: 1, max: 6 }),
      gatewayTransactionId: gatewayTransactionIds,
      sellerOrderNo: orderNos,
    }),
  },
);

function adjustmentEvents(): fc.Arbitrary<PaymentEvent> {
  const no = fc.integer({ min: 1, max: 4 });
  const amountsSen = fc.constantFrom(sen(0), sen(1), sen(150), amountSen);
  const common = {
    at: times,
    by: fc.constant('staff:A'),
    amountSen: amountsSen,
    postingRule: fc.constant(3 as const),
    merchantCode: fc.constant('council'),
    deliveries: fc.constantFrom<PlannedDelivery[]>(
      [],
      [{ key: 'callback-3', kind: 'callback', url: 'https://council.example/callback', about: 'refunded' }],
    ),
  };
  const returned = {
    ...common,
    chargeNo: no,
    feeSen: amountsSen,
    mode: fc.constantFrom('' as const, ...paymentModes),
  };
  const resolution = fc.record({
    kind: fc.constant('resolution' as const),
    resultNo: no,
    resolution: fc.constantFrom(...staffResolutions),
    note: fc.string(),
  });
  const refund = fc.record({
    kind: fc.constant('refund' as const),
    chargeNo: no,
    amountSen: amountsSen,
    gatewayReference: fc.string(),
    reason: fc.string(),
  });
  const decided = { at: times, by: fc.constant('staff:B'), no, note: fc.string() };
  return fc.oneof(
    eventOf('AmountMismatchCredited', {
      ...common,
      resultNo: no,
      note: fc.string(),
      effect: fc.constantFrom(...creditEffects),
      paidSen: amountsSen,
      paidAt: times,
      receiptNo: fc.constant('R-2'),
    }),
    eventOf('PaymentReversed', { ...returned, resultNo: no, note: fc.string() }),
    eventOf('PaymentRefunded', { ...returned, gatewayReference: fc.string(), reason: fc.string() }),
    eventOf('ApprovalRequested', {
      at: times,
      by: fc.constant('staff:A'),
      amountSen: fc.option(amountsSen),
      action: fc.oneof(resolution, refund),
    }),
    eventOf('ApprovalGranted', decided),
    eventOf('ApprovalRejected', decided),
  );
}

function eventOf(type: PaymentEvent['type'], data: Record<string, fc.Arbitrary<unknown>>) {
  return fc.record({ type: fc.constant(type), data: fc.record(data) }) as fc.Arbitrary<PaymentEvent>;
}

type Resolution = (typeof resolutions)[number];

function resolvedEvent([at, resultNo, resolution, note]: [string, number, Resolution, string]): PaymentEvent {
  return { type: 'ExceptionResolved', data: { at, resultNo, resolution, note, postingRule: 1 } };
}

function noteEvents() {
  return eventOf('StaffNoteAdded', {
    at: times,
    personal: fc.record({ plain: fc.record({ note: fc.string() }) }),
  });
}

function requeryEvent([at, kind, orderNo]: [string, number, string]): PaymentEvent {
  const status = registryStatuses[kind % registryStatuses.length] ?? 'attempted';
  const kinds: PaymentEvent[] = [
    { type: 'RequeryAnswered', data: { at, status, evidence: { plain: {} } } },
    { type: 'RequeryRepeated', data: { at, status, count: 1 + (kind % 50) } },
    { type: 'RequeryUnanswered', data: { at, reason: 'too_late' } },
  ];
  return kinds[kind % 4] ?? { type: 'AttemptOutcomeUnknown', data: { at, orderNo } };
}

function deliveryEvents(): fc.Arbitrary<PaymentEvent> {
  const delivery = fc.constantFrom('callback-1', 'callback-2', 'item-01', 'email', 'unknown');
  const asked = { at: times, delivery };
  const tried = { ...asked, attempt: fc.integer({ min: 1, max: 20 }), durationMs: fc.nat() };
  const answered = { ...tried, status: fc.option(fc.constantFrom(200, 410, 503)) };
  const failed = { reason: fc.string(), nextAttemptAt: times };
  const abandoned = { reason: fc.string() };
  return fc.oneof(
    eventOf('CallbackDelivered', answered),
    eventOf('CallbackAttemptFailed', { ...answered, ...failed }),
    eventOf('CallbackAbandoned', { ...answered, ...abandoned }),
    eventOf('CallbackSuperseded', asked),
    eventOf('CallbackRequested', asked),
    eventOf('ReceiptEmailSent', { ...tried, messageId: fc.string() }),
    eventOf('ReceiptEmailAttemptFailed', { ...tried, ...failed }),
    eventOf('ReceiptEmailAbandoned', { ...tried, ...abandoned }),
    eventOf('ReceiptEmailRequested', asked),
  );
}

function requestedEvent(channel: (typeof channels)[number]): PaymentEvent {
  return { type: 'PaymentRequested', data: request({ channel }) };
}

function chosenEvent(
  { type: _, again: __, ...choice }: ChoosePaymentMethod,
  sellerOrderNo: string,
): PaymentEvent {
  return { type: 'PaymentMethodChosen', data: { ...choice, sellerOrderNo } };
}

function resultEvent([result, source, kind, flag, orderNo, deliveries]: [
  ReportedResult,
  (typeof sources)[number],
  number,
  boolean,
  string | null,
  PlannedDelivery[] | 'rule 1',
]): PaymentEvent {
  const data = { ...recorded(result), source, verified: flag, orderNo };
  const changed = { ...data, merchantCode: deliveries === 'rule 1' ? null : 'council', deliveries };
  const moved = { ...data, postingRule: 1 as const };
  const told = deliveries === 'rule 1' ? {} : { merchantCode: 'council', deliveries };
  const contradicted = { ...data, standing: outcomes[kind % outcomes.length] ?? 'failed' };
  switch (result.outcome) {
    case 'succeeded': {
      const kinds: PaymentEvent[] = [
        {
          type: 'PaymentSucceeded',
          data: { ...changed, postingRule: 1, receiptNo: result.receiptNo, late: flag },
        },
        {
          type: 'AmountMismatchDetected',
          data: { ...moved, ...told, expectedSen: amountSen, currency: 'MYR' },
        },
        { type: 'DuplicatePaymentDetected', data: { ...moved, firstGatewayTransactionId: 'P1' } },
      ];
      return kinds[kind % kinds.length] ?? { type: 'GatewayResultContradicted', data: contradicted };
    }
    case 'failed':
      if (flag) return { type: 'PaymentFailed', data: changed };
      return kind % 2 === 0
        ? { type: 'GatewayResultContradicted', data: contradicted }
        : { type: 'AttemptEnded', data };
    case 'cancelled':
      return flag
        ? { type: 'PaymentCancelled', data: changed }
        : { type: 'GatewayResultContradicted', data: contradicted };
    case 'pending':
      return flag
        ? { type: 'PaymentPending', data: changed }
        : { type: 'GatewayResultContradicted', data: contradicted };
  }
}
