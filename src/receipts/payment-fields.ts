/** A payment as callbacks and requeries report it to merchants: all the documented fields, as texts. */
import { toDateTime } from '../common/malaysian-time.ts';
import { formatSen } from '../common/money.ts';
import { adjustedSen } from '../events/adjustments.ts';
import type { CallbackSubject } from '../events/deliveries.ts';
import type { OpenPayment } from '../events/open-payment.ts';
import { currentResult } from '../events/payment.ts';
import { heldWrongAmounts, type Standing, standingOf, wrongAmountsOf } from '../events/payment-standing.ts';
import { receiptOf } from './receipt.ts';
import { statusName, texts } from './texts.ts';

const codes = {
  failed: '0',
  succeeded: '1',
  cancelled: '2',
  pending: '3',
  // The interface has no status before the first result.
  requested: '3',
  // Nor one for money that does not pay, or pays only a part.
  wrongAmount: '3',
  partlyPaid: '3',
} as const satisfies Record<Standing, string>;

/** `0` failed, `1` success, `2` cancelled, `3` pending, awaiting payment or partly paid. */
export const statusCodeOf = (payment: Parameters<typeof standingOf>[0]) => codes[standingOf(payment)];

/** What a payment of this status on the wire may be. */
export const standingsByCode = (code: string) =>
  (Object.keys(codes) as Standing[]).filter((standing) => codes[standing] === code);

export type PaymentFields = ReturnType<typeof paymentFields>;

/** `''` where nothing is known. Amounts are in RM with two decimals; `amount` is what the payer pays in all. */
export function paymentFields(payment: OpenPayment) {
  const { request } = payment;
  const receipt = receiptOf(payment);
  const { bank, feeSen, fpxNo, gatewayNo, mode, orderNo, receiptNo, receivedSen, totalSen } = receipt;
  const result = heldWrongAmounts(payment).at(-1) ?? currentResult(payment);
  const status = statusCodeOf(payment);
  return {
    transaction_id: request.transactionId,
    trans_id: request.reference,
    status,
    payment_status: texts.en.statuses[status === '3' ? 'pending' : statusName(payment.status)],
    receipt_no: receiptNo,
    payment_datetime: result ? toDateTime(result.paidAt ?? result.at) : '',
    buyer_name: result?.buyerName || request.payer.name,
    amount: formatSen(totalSen),
    payment_mode: mode === '' ? '' : texts.en.modes[mode],
    fpx_charge: formatSen(feeSen),
    buyer_bank: bank,
    fpx_transaction_no: fpxNo,
    gateway_transaction_no: gatewayNo,
    seller_order_no: orderNo,
    merchant_code: request.merchant.code,
    description: request.description,
    service: request.service,
    amount_received: receivedSen === null ? '' : formatSen(receivedSen),
    status_detail: statusDetailOf(payment),
  };
}

/** The additional fields for merchants that are told of adjustments. `''` if it was not reversed. */
export function adjustmentFields(payment: OpenPayment) {
  const reversed = payment.adjustments?.findLast(({ kind }) => kind === 'reversed');
  return {
    amount_refunded: formatSen(adjustedSen(payment, 'refunded')),
    reversed_datetime: reversed ? toDateTime(reversed.at) : '',
  };
}

const eventNames = { partlyPaid: 'partly_paid', reversed: 'reversed', refunded: 'refunded' } as const;

/** What a callback about an adjustment has in addition to these. */
export function eventFields(about: CallbackSubject) {
  return { event: eventNames[about], event_version: '1' };
}

/** The state of the latest wrong amount, as a code; `''` if there was none, or if the payment is paid. */
function statusDetailOf(payment: OpenPayment): string {
  if (payment.status === 'succeeded') return '';
  const held = heldWrongAmounts(payment).at(-1);
  if (!held && payment.paidSen) return 'partly_paid';
  const wrong = held ?? wrongAmountsOf(payment).at(-1);
  if (!wrong) return '';
  // A part that was credited and has since been returned.
  if (wrong.credited) return 'wrong_amount_refunded';
  const resolution = wrong.resolved?.resolution ?? '';
  return resolution === '' || resolution === 'superseded' ? 'wrong_amount' : `wrong_amount_${resolution}`;
}
