/** What may happen to a payment, on either channel: one function per command, pure. The events are in src/events/payment.ts. */
import { canonicalJson } from '../events/canonical-json.ts';
import { toDigits } from '../events/malaysian-time.ts';
import { addSen, type Sen } from '../events/money.ts';
import {
  attemptOf,
  type Channel,
  evolve,
  noPayment,
  type Outcome,
  type Payment,
  type PaymentEvent,
  type PaymentMode,
  type PaymentRequested,
  type PaymentResult,
  type RecordedResult,
  type RequestedPayment,
  type Source,
  standingResult,
} from '../events/payment.ts';
import { type Decider, Refused } from './decider.ts';

export type RequestPayment = { type: 'RequestPayment'; request: PaymentRequested };

export type ChoosePaymentMethod = {
  type: 'ChoosePaymentMethod';
  at: string;
  /** The number the page was drawn for: sending the same page twice is one attempt. */
  attempt: number;
  mode: PaymentMode;
  bankCode: string;
  chargeSen: Sen;
};

/** A result goes through the same decision whichever source it has. */
export type RecordGatewayResult = {
  type: 'RecordGatewayResult';
  at: string;
  source: Source;
  verified: boolean;
  channel: Channel;
  merchantCode: string;
  result: PaymentResult;
};

export type PaymentCommand = RequestPayment | ChoosePaymentMethod | RecordGatewayResult;

/** A payer who cannot pay in this many tries needs a person, and a stream needs a bound. */
export const maxAttempts = 50;

export const paymentDecider: Decider<Payment, PaymentCommand, PaymentEvent> = {
  initial: noPayment,
  evolve,
  decide(command, state) {
    switch (command.type) {
      case 'RequestPayment':
        return requestPayment(command, state);
      case 'ChoosePaymentMethod':
        return choosePaymentMethod(command, state);
      case 'RecordGatewayResult':
        return recordGatewayResult(command, state);
      default:
        return command satisfies never;
    }
  },
};

function requestPayment({ request }: RequestPayment, state: Payment): readonly PaymentEvent[] | Refused {
  if (state.status === 'none') return [{ type: 'PaymentRequested', data: request }];
  if (contentOf(request) === contentOf(state.request)) return [];
  return new Refused('request_differs', 'This reference was already used for a payment with other content');
}

/** What the merchant asked for: all but the moment and what our own configuration added. */
function contentOf({ at: _, merchant, ...content }: PaymentRequested): string {
  return canonicalJson({ ...content, merchantCode: merchant.code });
}

function choosePaymentMethod(
  command: ChoosePaymentMethod,
  state: Payment,
): readonly PaymentEvent[] | Refused {
  if (state.status === 'none') return new Refused('unknown_payment', 'Payment not found');
  if (state.status === 'succeeded') return new Refused('payment_succeeded', 'This payment is already paid');
  if (state.status === 'pending')
    return new Refused('payment_pending', 'This payment is waiting for authorisation at the bank');
  const { at, mode, bankCode, chargeSen } = command;
  const already = state.attempts[command.attempt - 1];
  const open = command.attempt > state.closedAttempts;
  if (open && already?.mode === mode && already.bankCode === bankCode) return [];
  if (state.attempts.length >= maxAttempts)
    return new Refused('too_many_attempts', `A payment can be tried ${maxAttempts} times`);
  const attempt = state.attempts.length + 1;
  const sellerOrderNo = `${state.request.transactionId}-${attempt}`;
  return [{ type: 'PaymentMethodChosen', data: { at, attempt, mode, bankCode, chargeSen, sellerOrderNo } }];
}

const eventOf = {
  failed: 'PaymentFailed',
  cancelled: 'PaymentCancelled',
  pending: 'PaymentPending',
} as const satisfies Record<Exclude<Outcome, 'succeeded'>, PaymentEvent['type']>;

/** The state table of content/docs/payment-states.md. */
function recordGatewayResult(
  command: RecordGatewayResult,
  state: Payment,
): readonly PaymentEvent[] | Refused {
  if (
    state.status === 'none' ||
    state.request.channel !== command.channel ||
    state.request.merchant.code !== command.merchantCode
  )
    return new Refused('unmatched_result', 'No such transaction');

  const { at, source, verified, result } = command;
  const data = { at, source, verified, result };
  const comparable = comparableResults(state, result);
  if (comparable.some((earlier) => isSameResult(earlier, result))) return [];

  const standing = standingResult(state);
  if (result.outcome === 'succeeded') {
    const expectedSen = expectedAmount(state, result);
    if (result.amountSen !== expectedSen || !isRinggit(result.currency))
      return [{ type: 'AmountMismatchDetected', data: { ...data, expectedSen, currency: 'MYR' } }];
    if (state.status === 'succeeded') {
      const firstGatewayTransactionId = standing?.gatewayTransactionId ?? '';
      return [{ type: 'DuplicatePaymentDetected', data: { ...data, firstGatewayTransactionId } }];
    }
    return [
      {
        type: 'PaymentSucceeded',
        data: { ...data, receiptNo: receiptNoFor(command, state), late: isLate(state, result) },
      },
    ];
  }

  const final = comparable.find(
    (earlier) => earlier.applied && earlier.outcome !== 'pending' && isSameAttempt(earlier, result),
  );
  const contradicted = state.status === 'succeeded' ? standing : final;
  if (contradicted)
    return [{ type: 'GatewayResultContradicted', data: { ...data, standing: contradicted.outcome } }];
  if (state.status === 'pending' && result.outcome === 'pending') return [];
  return [{ type: eventOf[result.outcome], data }];
}

/**
 * The earlier results that a new one can be a repeat or a contradiction of. One that names neither a seller
 * order nor a gateway transaction (the registry's may not) speaks of the latest attempt.
 */
function comparableResults(state: RequestedPayment, result: PaymentResult): readonly RecordedResult[] {
  if (result.sellerOrderNo !== '' || result.gatewayTransactionId !== '') return state.results;
  return state.results.slice(
    Math.max(
      0,
      state.results.findLastIndex((earlier) => earlier.applied),
    ),
  );
}

function isSameResult(earlier: RecordedResult, result: PaymentResult): boolean {
  if (earlier.outcome !== result.outcome || !isSameAttempt(earlier, result)) return false;
  if (result.outcome !== 'succeeded') return true;
  return earlier.amountSen === result.amountSen && isRinggit(earlier.currency) === isRinggit(result.currency);
}

/** Two results are of one attempt unless an id that both carry differs; the gateway's own id is the better one. */
function isSameAttempt(a: RecordedResult, b: PaymentResult): boolean {
  const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  if (
    a.outcome === 'succeeded' &&
    b.outcome === 'succeeded' &&
    a.gatewayTransactionId &&
    b.gatewayTransactionId
  )
    return a.gatewayTransactionId === b.gatewayTransactionId;
  return !differ(a.sellerOrderNo, b.sellerOrderNo) && !differ(a.gatewayTransactionId, b.gatewayTransactionId);
}

function expectedAmount(state: RequestedPayment, result: PaymentResult): Sen {
  const charge = attemptOf(state, result.sellerOrderNo)?.chargeSen;
  return charge ? addSen(state.request.amountSen, charge) : state.request.amountSen;
}

function isRinggit(currency: string): boolean {
  return ['', 'MYR', 'RM'].includes(currency.toUpperCase());
}

/** Late: after a failure or cancellation, unless it belongs to a try that the payer started since. */
function isLate(state: RequestedPayment, result: PaymentResult): boolean {
  if (state.status !== 'failed' && state.status !== 'cancelled') return false;
  const attempt = attemptOf(state, result.sellerOrderNo);
  return attempt === null || state.attempts.indexOf(attempt) < state.closedAttempts;
}

/** The gateway's number, else `<merchant id>-<yyyymmdd>-<8 characters of the transaction>`: the same on every replay. */
function receiptNoFor({ at, result }: RecordGatewayResult, { request }: RequestedPayment): string {
  if (result.receiptNo) return result.receiptNo;
  return `${request.merchant.id}-${toDigits(result.paidAt ?? at).slice(0, 8)}-${request.transactionId.slice(-8)}`;
}
