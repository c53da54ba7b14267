// Payment events and commands with everything filled in: a test names only what it is about.
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import type { Held } from '@ledger/personal-data/sealed.ts';
import type { TakeAction } from '../../src/commands/approvals.ts';
import { Refused } from '../../src/commands/decider.ts';
import { type ChoosePaymentMethod, paymentDecider, type RequestPayment } from '../../src/commands/payment.ts';
import type { RecordGatewayResult } from '../../src/commands/payment-result.ts';
import type { Sen } from '../../src/common/money.ts';
import type { OpenPayment } from '../../src/events/open-payment.ts';
import type { Channel, PaymentEvent, PaymentRequested, RequestedPayment } from '../../src/events/payment.ts';
import type { Outcome, ReportedResult } from '../../src/events/payment-result.ts';
import type { RequestDetails } from '../../src/events/personal-data.ts';
import type { exceptionResolutions, Resolution } from '../../src/events/recorded-result.ts';

type DataOf<Type extends PaymentEvent['type']> = Extract<PaymentEvent, { type: Type }>['data'];

export const sen = (amount: number) => amount as Sen;
export const transactionId = '5K3M9QW2Z7TCV8XN4RBJ6HYDFE';
export const orderNo = (attempt: number) => `${transactionId}-${attempt}`;
/** 09:00:00 in Malaysia. */
export const requestedAt = '2026-11-20T01:00:00.000Z';
export const resultAt = '2026-11-20T01:05:00.000Z';
export const amountSen = sen(12_050);

const common = {
  at: requestedAt,
  transactionId,
  merchant: { code: 'council', id: 7, name: 'Example City Council' },
  reference: 'INV-2026-000123',
  amountSen,
  service: 'Assessment tax',
  description: 'Second half of 2026',
  redirectUrl: 'https://council.example/paid',
};

export const payer = {
  name: 'Aminah binti Ismail',
  email: 'aminah@example.my',
  icNo: '900101145678',
  address1: '1 Jalan Contoh',
  address2: '',
  city: 'Ipoh',
  postcode: '30000',
  state: 'Perak',
  phoneNo: '0123456789',
};

const fingerprint = createFingerprint('a key of the tests');

const byChannel = {
  generic: {
    channel: 'generic',
    items: [],
    callbackUrl: 'https://council.example/callback',
    branchCode: '',
  },
  landreg: {
    channel: 'landreg',
    items: [
      { description: 'Quit rent', titleId: '080102GRN00012345', amountSen: sen(10_000) },
      { description: 'Search fee', titleId: '', amountSen: sen(2_050) },
    ],
    callbackUrl: '',
    branchCode: '0801',
  },
} as const;

export type RequestChanges = Partial<PaymentRequested & RequestDetails>;

/** As the decider is given it: the personal data are not sealed yet. */
export function request({ payer: who = payer, extra, ...over }: RequestChanges = {}): PaymentRequested {
  const { items, ...channel } = byChannel[over.channel ?? 'generic'];
  const details = { payer: who, extra: extra ?? { account_no: 'A-1' } };
  return {
    ...common,
    ...channel,
    items: [...items],
    personal: { plain: details },
    fingerprint: fingerprint([over.transactionId ?? transactionId, details]),
    emailReceipt: who.email !== '',
    ...over,
  };
}

export function plain<T>(held: Held<T>): T {
  if (!('plain' in held)) throw new Error('It is not in plain text');
  return held.plain;
}

/** A payment whose events hold personal data in plain text, as a reader with access to them gets it. */
export function opened(payment: RequestedPayment): OpenPayment {
  return {
    ...payment,
    request: { ...payment.request, ...plain(payment.request.personal) },
    results: payment.results.map((each) => ({ ...each, ...plain(each.personal) })),
    access: { kind: 'open' },
  };
}

export function requestPayment(over: RequestChanges = {}): RequestPayment {
  return { type: 'RequestPayment', request: request(over) };
}

export function requested(channel: Channel = 'generic'): PaymentEvent {
  return { type: 'PaymentRequested', data: request({ channel }) };
}

export function choose(attempt: number, over: Partial<ChoosePaymentMethod> = {}): ChoosePaymentMethod {
  return {
    type: 'ChoosePaymentMethod',
    at: requestedAt,
    attempt,
    mode: 'fpx',
    bankCode: 'MBB0228',
    chargeSen: sen(0),
    lang: 'en',
    again: true,
    ...over,
  };
}

export function chosen(attempt: number, over: Partial<DataOf<'PaymentMethodChosen'>> = {}): PaymentEvent {
  const { type: _, again: __, ...choice } = choose(attempt);
  return { type: 'PaymentMethodChosen', data: { ...choice, sellerOrderNo: orderNo(attempt), ...over } };
}

/** What the gateway reports of an attempt; both ids are of that attempt unless said otherwise. */
export function result(
  attempt: number,
  outcome: Outcome,
  over: Partial<ReportedResult> = {},
): ReportedResult {
  return {
    outcome,
    mode: 'fpx',
    sellerOrderNo: orderNo(attempt),
    gatewayTransactionId: `P${attempt}`,
    amountSen,
    currency: '',
    paidAt: '2026-11-20T01:04:30.000Z',
    receiptNo: '',
    buyerBank: 'Maybank2U',
    buyerName: 'AMINAH BINTI ISMAIL',
    raw: { STATUS: outcome },
    ...over,
  };
}

export function record(
  reported: ReportedResult,
  over: Partial<RecordGatewayResult> = {},
): RecordGatewayResult {
  return {
    type: 'RecordGatewayResult',
    at: resultAt,
    source: 'gateway',
    verified: true,
    channel: 'generic',
    merchantCode: 'council',
    result: reported,
    ...over,
  };
}

/**
 * What every event made of a result carries. These events are as those of version 1 are read: the fold finds by rule 1
 * what they are about and what they set in motion.
 */
export function recorded(reported: ReportedResult) {
  const { buyerName, raw, ...result } = reported;
  return {
    at: resultAt,
    source: 'gateway',
    verified: true,
    result,
    personal: { plain: { buyerName } },
    evidence: { plain: raw },
    orderNo: null,
  } as const;
}

const statusChanged = { merchantCode: null, deliveries: 'rule 1' } as const;

/** The decider, with its results as these helpers make them: for tests that are not about what the events add. */
export const resultDecider: typeof paymentDecider = {
  ...paymentDecider,
  decide(command, state) {
    const decided = paymentDecider.decide(command, state);
    return decided instanceof Refused ? decided : decided.map(asOfVersion1);
  },
};

/** A result event without what version 2 added. */
export function asOfVersion1(event: PaymentEvent): PaymentEvent {
  // Nobody could cancel then.
  if (!('result' in event.data) || ['payer', 'merchant', 'expiry'].includes(event.data.source)) return event;
  const old = { orderNo: null, ...('postingRule' in event.data && { postingRule: 1 }) };
  if (event.type === 'AmountMismatchDetected') {
    const { deliveries: _, merchantCode: __, ...data } = event.data;
    return { ...event, data: { ...data, ...old } } as PaymentEvent;
  }
  const data = { ...event.data, ...old, ...('deliveries' in event.data && statusChanged) };
  return { ...event, data } as PaymentEvent;
}

export function succeeded(
  reported: ReportedResult,
  over: Partial<DataOf<'PaymentSucceeded'>> = {},
): PaymentEvent {
  return {
    type: 'PaymentSucceeded',
    data: {
      ...recorded(reported),
      ...statusChanged,
      postingRule: 1,
      receiptNo: '7-20261120-HE7CEVBBN545JZX2',
      late: false,
      ...over,
    },
  };
}

const typeOf = {
  failed: 'PaymentFailed',
  cancelled: 'PaymentCancelled',
  pending: 'PaymentPending',
} as const;

/** PaymentFailed, PaymentCancelled or PaymentPending, as the result says. */
export function applied(reported: ReportedResult): PaymentEvent {
  if (reported.outcome === 'succeeded') return succeeded(reported);
  return { type: typeOf[reported.outcome], data: { ...recorded(reported), ...statusChanged } };
}

export function contradicted(reported: ReportedResult, standing: Outcome): PaymentEvent {
  return { type: 'GatewayResultContradicted', data: { ...recorded(reported), standing } };
}

export function mismatched(reported: ReportedResult, expectedSen: Sen = amountSen): PaymentEvent {
  const data = { ...recorded(reported), postingRule: 1, expectedSen, currency: 'MYR' } as const;
  return { type: 'AmountMismatchDetected', data };
}

export function duplicated(reported: ReportedResult, firstGatewayTransactionId: string): PaymentEvent {
  const data = { ...recorded(reported), postingRule: 1 as const, firstGatewayTransactionId };
  return { type: 'DuplicatePaymentDetected', data };
}

/** As a later report of the same money supersedes an earlier one. */
export function superseded(resultNo: number): PaymentEvent {
  const data = { at: resultAt, resultNo, resolution: 'superseded', note: '', postingRule: 3 } as const;
  return { type: 'ExceptionResolved', data };
}

/** As staff record the refund of a charge by FPX. */
export const refunded = (over: Partial<DataOf<'PaymentRefunded'>> = {}) =>
  ({
    type: 'PaymentRefunded',
    data: {
      at: resultAt,
      by: 'staff:A',
      chargeNo: 1,
      amountSen: sen(2_000),
      feeSen: sen(0),
      mode: 'fpx',
      gatewayReference: 'RF-1',
      reason: '',
      postingRule: 3,
      merchantCode: 'council',
      deliveries: [],
      ...over,
    },
  }) satisfies PaymentEvent;

/** As staff settle what a result left open. */
export function resolvedAs(
  resolution: (typeof exceptionResolutions)[number],
  resultNo: number,
): PaymentEvent {
  const data = {
    at: '2026-11-21T02:00:00.000Z',
    resultNo,
    resolution,
    note: 'Seen',
    postingRule: 2,
  } as const;
  return { type: 'ExceptionResolved', data };
}

/** As one member of staff, whom nobody has to approve, resolves an exception. */
export function resolving(
  resultNo: number,
  resolution: Resolution,
  at = '2026-11-21T02:00:00.000Z',
): TakeAction {
  const terms = { toldOf: [], takesParts: false, approvalAboveSen: null };
  const action = { kind: 'resolution', resultNo, resolution, note: 'x' } as const;
  return { type: 'TakeAction', at, by: 'staff:A', terms, action };
}
