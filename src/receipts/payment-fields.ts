/** A payment as callbacks and requeries report it to merchants: all the documented fields, as texts. */
import { adjustedSen } from '../events/adjustments.ts';
import { chargesOf } from '../events/charges.ts';
import type { CallbackSubject } from '../events/deliveries.ts';
import type { OpenPayment } from '../events/open-payment.ts';
import { currentResult, type PaymentStatus } from '../events/payment.ts';
import { toDateTime } from '../kernel/malaysian-time.ts';
import { addSen, formatSen } from '../kernel/money.ts';
import { receiptOf } from './receipt.ts';
import { en } from './texts/en.ts';
import { statusName } from './texts.ts';

const codes = {
  failed: '0',
  succeeded: '1',
  cancelled: '2',
  pending: '3',
  // The interface has no status before the first result.
  requested: '3',
  partlyPaid: '3',
} as const satisfies Record<PaymentStatus, string>;

/** `0` failed, `1` success, `2` cancelled, `3` pending, awaiting payment or partly paid. */
export const statusCodeOf = (status: PaymentStatus) => codes[status];

export type PaymentFields = ReturnType<typeof paymentFields>;

/** `''` where nothing is known. Amounts are in RM with two decimals; `amount` is what the payer pays in all. */
export function paymentFields(payment: OpenPayment) {
  const { request } = payment;
  const { bank, feeSen, fpxNo, mode, orderNo, receiptNo, totalSen } = receiptOf(payment);
  const result = currentResult(payment);
  const statusCode = statusCodeOf(payment.status);
  return {
    transaction_id: request.transactionId,
    trans_id: request.reference,
    status: statusCode,
    payment_status: en.statuses[statusCode === '3' ? 'pending' : statusName(payment.status)],
    receipt_no: receiptNo,
    payment_datetime: result ? toDateTime(result.paidAt ?? result.at) : '',
    buyer_name: result?.buyerName || request.payer.name,
    amount: formatSen(totalSen),
    payment_mode: mode === '' ? '' : en.modes[mode],
    fpx_charge: formatSen(feeSen),
    buyer_bank: bank,
    fpx_transaction_no: fpxNo,
    seller_order_no: orderNo,
    merchant_code: request.merchant.code,
    description: request.description,
    service: request.service,
  };
}

/** What merchants that are told of adjustments find beside the fields above. `''` where it was not reversed. */
export function adjustmentFields(payment: OpenPayment) {
  const reversed = payment.adjustments?.findLast(({ kind }) => kind === 'reversed');
  return {
    amount_received: formatSen(addSen(...chargesOf(payment).map(({ amountSen }) => amountSen))),
    amount_refunded: formatSen(adjustedSen(payment, 'refunded')),
    reversed_datetime: reversed ? toDateTime(reversed.at) : '',
  };
}

const eventNames = { partlyPaid: 'partly_paid', reversed: 'reversed', refunded: 'refunded' } as const;

/** What a callback about an adjustment has beside these. */
export function eventFields(about: CallbackSubject) {
  return { event: eventNames[about], event_version: '1' };
}
