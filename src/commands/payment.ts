/** What may happen to a payment, on either channel: one function per command, pure. The events are in src/events/payment.ts. */
import { canonicalJson } from '../events/canonical-json.ts';
import { toDigits } from '../events/malaysian-time.ts';
import { addSen, type Sen } from '../events/money.ts';
import {
  type Attempt,
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
  sellerOrderOf,
  standingResult,
} from '../events/payment.ts';
import { type Decider, Refused } from './decider.ts';
import { type DeliveryCommand, decideDelivery } from './deliveries.ts';

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

export type PaymentCommand = RequestPayment | ChoosePaymentMethod | RecordGatewayResult | DeliveryCommand;

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
        return decideDelivery(command, state);
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
  if (chosenAttempt(state, command)) return [];
  if (state.attempts.length >= maxAttempts)
    return new Refused('too_many_attempts', `A payment can be tried ${maxAttempts} times`);
  const attempt = state.attempts.length + 1;
  const sellerOrderNo = `${state.request.transactionId}-${attempt}`;
  return [{ type: 'PaymentMethodChosen', data: { at, attempt, mode, bankCode, chargeSen, sellerOrderNo } }];
}

/**
 * The open attempt that a choice made, at once or when it was sent before; null when it made none yet.
 * One page can make several (the payer goes back and takes another bank), so its number is only the lowest.
 */
export function chosenAttempt(
  state: RequestedPayment,
  choice: Pick<ChoosePaymentMethod, 'attempt' | 'mode' | 'bankCode'>,
): Attempt | null {
  const first = Math.max(choice.attempt - 1, state.closedAttempts);
  const since = state.attempts.slice(first);
  return since.find(({ mode, bankCode }) => mode === choice.mode && bankCode === choice.bankCode) ?? null;
}

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

  return command.result.outcome === 'succeeded'
    ? recordSuccess(command, state)
    : recordOther(command, command.result.outcome, state);
}

/** A success of what was asked is never set apart while the payment is open, whatever came before it. */
function recordSuccess(command: RecordGatewayResult, state: RequestedPayment): readonly PaymentEvent[] {
  const { at, source, verified, result } = command;
  const data = { at, source, verified, result };
  const expectedSen = expectedAmount(state, result);
  const matches = result.amountSen === expectedSen && isRinggit(result.currency);
  if (matches && state.status !== 'succeeded') {
    const receiptNo = receiptNoFor(command, state);
    return [{ type: 'PaymentSucceeded', data: { ...data, receiptNo, late: isLate(state, result) } }];
  }
  if (state.results.some((earlier) => isSameSuccess(earlier, result))) return [];
  if (!matches) return [{ type: 'AmountMismatchDetected', data: { ...data, expectedSen, currency: 'MYR' } }];
  const firstGatewayTransactionId = standingResult(state)?.gatewayTransactionId ?? '';
  return [{ type: 'DuplicatePaymentDetected', data: { ...data, firstGatewayTransactionId } }];
}

const eventOf = {
  failed: 'PaymentFailed',
  cancelled: 'PaymentCancelled',
  pending: 'PaymentPending',
} as const satisfies Record<Exclude<Outcome, 'succeeded'>, PaymentEvent['type']>;

function recordOther(
  { at, source, verified, result }: RecordGatewayResult,
  outcome: keyof typeof eventOf,
  state: RequestedPayment,
): readonly PaymentEvent[] {
  const data = { at, source, verified, result };
  const ofSameAttempt = state.results.filter((earlier) => isSameAttempt(earlier, result, state));
  if (ofSameAttempt.some((earlier) => earlier.outcome === outcome)) return [];
  if (state.status === 'pending' && outcome === 'pending') return [];
  const final = ofSameAttempt.find((earlier) => earlier.applied && earlier.outcome !== 'pending');
  const standing = state.status === 'succeeded' ? 'succeeded' : final?.outcome;
  if (standing) return [{ type: 'GatewayResultContradicted', data: { ...data, standing } }];
  return [{ type: eventOf[outcome], data }];
}

/** Two results are of one attempt when they speak of one seller order and name no two gateway transactions. */
function isSameAttempt(earlier: RecordedResult, result: PaymentResult, state: RequestedPayment): boolean {
  return (
    earlier.sellerOrderNo === sellerOrderOf(state, result) &&
    !differ(earlier.gatewayTransactionId, result.gatewayTransactionId)
  );
}

/** For two successes the gateway's own id decides, where both carry it: another one is other money. */
function isSameSuccess(earlier: RecordedResult, result: PaymentResult): boolean {
  if (
    earlier.outcome !== 'succeeded' ||
    earlier.amountSen !== result.amountSen ||
    isRinggit(earlier.currency) !== isRinggit(result.currency)
  )
    return false;
  if (earlier.gatewayTransactionId && result.gatewayTransactionId)
    return earlier.gatewayTransactionId === result.gatewayTransactionId;
  return !differ(earlier.sellerOrderNo, result.sellerOrderNo);
}

function differ(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other;
}

function expectedAmount(state: RequestedPayment, result: PaymentResult): Sen {
  const charge = attemptOf(state, result)?.chargeSen;
  return charge ? addSen(state.request.amountSen, charge) : state.request.amountSen;
}

function isRinggit(currency: string): boolean {
  return ['', 'MYR', 'RM'].includes(currency.toUpperCase());
}

/** Late: after a failure or cancellation, unless it belongs to a try that the payer started since. */
function isLate(state: RequestedPayment, result: PaymentResult): boolean {
  if (state.status !== 'failed' && state.status !== 'cancelled') return false;
  const attempt = attemptOf(state, result);
  return attempt === null || state.attempts.indexOf(attempt) < state.closedAttempts;
}

/** The gateway's number, else `<merchant id>-<yyyymmdd>-<8 characters of the transaction>`: the same on every replay. */
function receiptNoFor({ at, result }: RecordGatewayResult, { request }: RequestedPayment): string {
  if (result.receiptNo) return result.receiptNo;
  return `${request.merchant.id}-${toDigits(result.paidAt ?? at).slice(0, 8)}-${request.transactionId.slice(-8)}`;
}
