/** Events of money after the results of a payment, recorded by staff: a credited wrong amount, a reversal, a refund. */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { array, enums, integer, literal, min, object, string } from 'superstruct';
import { addSen, type Sen, sen } from '../common/money.ts';
import { paymentModes } from '../common/payment-modes.ts';
import { PlannedDelivery } from './deliveries.ts';
import type { Outcome } from './payment-result.ts';
import { type CreditEffect, creditEffects, type RecordedResult, withChanged } from './recorded-result.ts';

const common = {
  at: utc,
  /** `staff:<id>`. */
  by: string(),
  /** The first rule that knows these events. */
  postingRule: literal(3),
  merchantCode: string(),
  deliveries: array(PlannedDelivery),
};

const returned = {
  ...common,
  /** The number of the recorded result that brought the money, counted from 1. */
  chargeNo: min(integer(), 1),
  amountSen: sen,
  feeSen: sen,
  /** The method by which the money came; `''` if it is not known. */
  mode: enums(['', ...paymentModes]),
};

export const adjustmentEvents = {
  /** Settles the amount mismatch of result `resultNo`. */
  AmountMismatchCredited: object({
    ...common,
    resultNo: min(integer(), 1),
    note: string(),
    amountSen: sen,
    effect: enums(creditEffects),
    /** What has been paid with this and with earlier wrong amounts together. */
    paidSen: sen,
    /** When the money came: the bank's time where it gave one. */
    paidAt: utc,
    /** `''` unless it pays the payment. */
    receiptNo: string(),
  }),
  /** The bank has taken the money back, as the contradiction of result `resultNo` said, which this settles. */
  PaymentReversed: object({ ...returned, resultNo: min(integer(), 1), note: string() }),
  PaymentRefunded: object({ ...returned, gatewayReference: string(), reason: string() }),
};

type AdjustmentEvent = EventOf<typeof adjustmentEvents>;

type Adjustment = { at: string; amountSen: Sen } & (
  | { kind: 'credited'; resultNo: number; effect: CreditEffect }
  | { kind: 'reversed'; chargeNo: number }
  | { kind: 'refunded'; chargeNo: number; gatewayReference: string }
);

/** The part of a payment that these events change. */
export type Adjusted = {
  /** Partly paid: staff credited a wrong amount as a part of what was asked, and the rest is still to be paid. */
  status: 'requested' | 'partlyPaid' | Outcome;
  results: readonly RecordedResult[];
  /** Set once, by what paid it. */
  receipt: { receiptNo: string; late: boolean } | null;
  /** How many events told people something although the status stayed; absent while there is none. */
  announcements?: number;
  /** In order; absent while there is none. */
  adjustments?: readonly Adjustment[];
  /** What wrong amounts that were credited have paid of it, less what of that was returned before it was paid. */
  paidSen?: Sen;
};

/** Total. A payment that is paid stays paid. */
export function evolveAdjustments<Payment extends Adjusted>(
  payment: Payment,
  event: AdjustmentEvent,
): Payment {
  const next = withStatusAfter(payment, event);
  const { at, amountSen } = event.data;
  switch (event.type) {
    case 'AmountMismatchCredited': {
      const { note, receiptNo, resultNo } = event.data;
      const effect = payment.status === 'succeeded' ? 'nothing' : event.data.effect;
      const receipt = effect === 'paid' ? { receiptNo, late: false } : next.receipt;
      const resolved = { at, resolution: 'credited', note } as const;
      const settled = resolvedAs({ ...next, receipt }, resultNo, resolved, effect);
      return added(settled, { kind: 'credited', at, amountSen, resultNo, effect });
    }
    case 'PaymentReversed': {
      const { chargeNo, note, resultNo } = event.data;
      const settled = resolvedAs(next, resultNo, { at, resolution: 'reversed', note });
      return added(settled, { kind: 'reversed', at, amountSen, chargeNo });
    }
    case 'PaymentRefunded': {
      const { chargeNo, gatewayReference } = event.data;
      return added(next, { kind: 'refunded', at, amountSen, chargeNo, gatewayReference });
    }
  }
}

type Paying = Pick<Adjusted, 'status' | 'paidSen'>;

/** What the event does to the status, and to what has been paid. */
function withStatusAfter<Payment extends Paying>(payment: Payment, event: AdjustmentEvent): Payment {
  const { status } = payment;
  if (status === 'succeeded') return payment;
  const statusOf = (paidSen: Sen) => {
    // While a bank may still take the whole amount, the payer may not pay the rest.
    if (status !== 'pending' && paidSen > 0) return 'partlyPaid';
    return status === 'partlyPaid' ? 'requested' : status;
  };
  if (event.type === 'AmountMismatchCredited') {
    const { effect, paidSen } = event.data;
    if (effect === 'nothing') return payment;
    return { ...payment, status: effect === 'paid' ? 'succeeded' : statusOf(paidSen), paidSen };
  }
  if (payment.paidSen === undefined) return payment;
  const paidSen = Math.max(0, payment.paidSen - event.data.amountSen) as Sen;
  return { ...payment, status: statusOf(paidSen), paidSen };
}

/** The status after a result other than a success: the failure of an attempt leaves a payment partly paid. */
export function statusAfter<Other extends Outcome>(
  { paidSen }: Paying,
  outcome: Other,
): Other | 'partlyPaid' {
  return paidSen && outcome !== 'pending' ? 'partlyPaid' : outcome;
}

function added<Payment extends Adjusted>(payment: Payment, adjustment: Adjustment): Payment {
  return { ...payment, adjustments: [...(payment.adjustments ?? []), adjustment] };
}

/** The payment with one of its results settled by staff. */
export function resolvedAs<Payment extends Pick<Adjusted, 'results'>>(
  payment: Payment,
  resultNo: number,
  resolved: NonNullable<RecordedResult['resolved']>,
  effect?: CreditEffect,
): Payment {
  const results = withChanged(payment.results, resultNo, (result) => ({
    ...result,
    resolved,
    ...(effect && { credited: effect }),
  }));
  return { ...payment, results };
}

/** How many changes there were: results that set the status, events that told people something, and adjustments. */
export function changesOf({ adjustments = [], announcements = 0, results }: Adjusted): number {
  return results.filter(({ role }) => role === 'applied').length + announcements + adjustments.length;
}

type Payable = { paidSen?: Sen; request: { amountSen: Sen } };

/** What is still to be paid of the amount asked for, without a fee. */
export function outstandingSen({ paidSen = 0 as Sen, request }: Payable): Sen {
  return Math.max(0, request.amountSen - paidSen) as Sen;
}

export function adjustedSen(
  { adjustments = [] }: Pick<Adjusted, 'adjustments'>,
  kind: Adjustment['kind'],
): Sen {
  return addSen(...adjustments.filter((each) => each.kind === kind).map(({ amountSen }) => amountSen));
}
