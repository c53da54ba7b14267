/** Made-up histories of payments, for fast-check: what a stream may hold, not only what a well-behaved gateway sends. */
import fc from 'fast-check';
import type { Sen } from '../../src/common/money.ts';
import { paymentModes } from '../../src/common/payment-modes.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import { type Outcome, outcomes, sources } from '../../src/events/payment-result.ts';
import {
  creditEffects,
  exceptionResolutions as resolutions,
  resolutions as staffResolutions,
} from '../../src/events/recorded-result.ts';

/** Any text, with what Postgres cannot store well represented. */
const text = fc.string({
  unit: fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.constantFrom('\0', '\ud800', '\udc00', '\\', '\\u0000', '"', '\ufffd') },
  ),
  maxLength: 12,
});
const at = fc
  .date({ min: new Date('2020-01-01Z'), max: new Date('2030-01-01Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
/** As it comes back from storage: JSON has no -0. */
const jsonValue = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
const sen = fc.integer({ min: 0, max: 100_000_000 }) as fc.Arbitrary<Sen>;

const recorded = (...allowed: Outcome[]) => ({
  at,
  source: fc.constantFrom(...sources),
  verified: fc.boolean(),
  result: fc.record({
    outcome: fc.constantFrom(...allowed),
    mode: fc.constantFrom('' as const, ...paymentModes),
    sellerOrderNo: text,
    // Few, so that results of the same gateway transaction occur: the fold tells them by this.
    gatewayTransactionId: fc.constantFrom('', 'G1', 'G\0', 'G\ud800'),
    amountSen: fc.option(sen),
    currency: fc.constantFrom('', 'MYR', 'USD'),
    paidAt: fc.option(at),
    receiptNo: text,
    buyerBank: text,
  }),
  personal: fc.record({ plain: fc.record({ buyerName: text }) }),
  evidence: fc.record({ plain: fc.dictionary(text, text, { maxKeys: 3 }) }),
  orderNo: fc.option(text),
});

const planned = fc.oneof(
  fc.record({ key: fc.constantFrom('callback-1', 'callback-2'), kind: fc.constant('callback'), url: text }),
  fc.record({ key: fc.constant('item-01'), kind: fc.constant('item'), item: fc.constant(1) }),
  fc.record({ key: fc.constant('email'), kind: fc.constant('email') }),
);
/** As version 1 is read, or as version 2 says it. */
const statusChanged = (outcome: Outcome) => ({
  ...recorded(outcome),
  merchantCode: fc.option(text),
  deliveries: fc.oneof(fc.constant('rule 1'), fc.uniqueArray(planned, { selector: ({ key }) => key })),
});
const postingRule = fc.constant(1);

const payer = fc.record({
  name: text,
  email: text,
  icNo: text,
  address1: text,
  address2: text,
  city: text,
  postcode: text,
  state: text,
  phoneNo: text,
});

const requested: fc.Arbitrary<PaymentEvent> = fc.record({
  type: fc.constant('PaymentRequested'),
  data: fc.record({
    at,
    transactionId: text,
    channel: fc.constantFrom(...channels),
    merchant: fc.record({ code: text, id: fc.integer(), name: text }),
    reference: text,
    amountSen: sen,
    service: text,
    description: text,
    items: fc.array(fc.record({ description: text, titleId: text, amountSen: sen }), { maxLength: 3 }),
    personal: fc.record({
      plain: fc.record({ payer, extra: fc.dictionary(text, jsonValue, { maxKeys: 3 }) }),
    }),
    fingerprint: fc.oneof(fc.constant(null), text),
    emailReceipt: fc.boolean(),
    callbackUrl: text,
    redirectUrl: text,
    branchCode: text,
  }),
});

const event = (type: PaymentEvent['type'], data: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ type: fc.constant(type), data: fc.record(data) }) as fc.Arbitrary<PaymentEvent>;

const asked = { at, delivery: fc.constantFrom('callback-1', 'callback-2', 'item-01', 'email', 'none') };
const tried = { ...asked, attempt: fc.integer({ min: 1, max: 9 }), durationMs: fc.nat() };
const answered = { ...tried, status: fc.option(fc.constantFrom(200, 503)), reason: text };

const resultNo = fc.integer({ min: 1, max: 4 });
/** What staff did with money, and whom it is announced to. */
const adjusted = {
  ...{ at, by: text, merchantCode: text, postingRule: fc.constant(3), amountSen: sen },
  deliveries: fc.uniqueArray(planned, { selector: ({ key }) => key }),
};
const returned = {
  ...adjusted,
  chargeNo: resultNo,
  feeSen: sen,
  mode: fc.constantFrom('' as const, ...paymentModes),
};

const later = fc.oneof(
  event('PaymentMethodChosen', {
    at,
    attempt: fc.integer({ min: 1, max: 50 }),
    mode: fc.constantFrom(...paymentModes),
    bankCode: text,
    chargeSen: sen,
    sellerOrderNo: text,
  }),
  event('PaymentSucceeded', {
    ...statusChanged('succeeded'),
    postingRule,
    receiptNo: text,
    late: fc.boolean(),
  }),
  event('PaymentFailed', statusChanged('failed')),
  event('PaymentCancelled', statusChanged('cancelled')),
  event('PaymentPending', statusChanged('pending')),
  event('CallbackDelivered', { ...tried, status: fc.constant(200) }),
  event('CallbackAttemptFailed', { ...answered, nextAttemptAt: at }),
  event('CallbackAbandoned', answered),
  event('CallbackSuperseded', asked),
  event('CallbackRequested', asked),
  event('ReceiptEmailSent', { ...tried, messageId: text }),
  event('GatewayResultContradicted', {
    ...recorded('failed', 'cancelled', 'pending'),
    standing: fc.constantFrom(...outcomes),
  }),
  event('AmountMismatchDetected', {
    ...recorded('succeeded'),
    postingRule,
    expectedSen: sen,
    currency: fc.constant('MYR'),
  }),
  event('DuplicatePaymentDetected', {
    ...recorded('succeeded'),
    postingRule,
    firstGatewayTransactionId: text,
  }),
  event('ExceptionResolved', {
    at,
    resultNo,
    resolution: fc.constantFrom(...resolutions),
    note: text,
    postingRule,
  }),
  event('AmountMismatchCredited', {
    ...adjusted,
    resultNo,
    note: text,
    effect: fc.constantFrom(...creditEffects),
    paidSen: sen,
    paidAt: at,
    receiptNo: text,
  }),
  event('PaymentReversed', { ...returned, resultNo, note: text }),
  event('PaymentRefunded', { ...returned, gatewayReference: text, reason: text }),
  event('ApprovalRequested', {
    ...{ at, by: text, amountSen: fc.option(sen) },
    action: fc.record({
      kind: fc.constant('resolution'),
      resultNo,
      resolution: fc.constantFrom(...staffResolutions),
      note: text,
    }),
  }),
  event('ApprovalGranted', { at, by: text, no: resultNo, note: text }),
  event('ApprovalRejected', { at, by: text, no: resultNo, note: text }),
);

/** A stream from its request on. */
export const history = fc
  .tuple(requested, fc.array(later, { maxLength: 10 }))
  .map(([first, others]) => [first, ...others]);
