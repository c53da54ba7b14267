/** A payment as callbacks and requeries report it to merchants: all the documented fields, as texts. */
import type { OpenPayment } from '../events/open-payment.ts';
import { currentResult } from '../events/payment.ts';
import type { Resolution } from '../events/recorded-result.ts';
import { heldWrongAmounts, type Standing, standingOf, wrongAmountsOf } from '../events/standing.ts';
import { toDateTime } from '../kernel/malaysian-time.ts';
import { formatSen, type Sen } from '../kernel/money.ts';
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
  // Nor one for money that does not pay: it is not known yet what becomes of it.
  wrongAmount: '3',
} as const satisfies Record<Standing, string>;

/** `0` failed, `1` success, `2` cancelled, `3` pending or awaiting payment. */
export const statusCodeOf = (payment: Parameters<typeof standingOf>[0]) => codes[standingOf(payment)];

export type PaymentFields = ReturnType<typeof paymentFields>;

/** `''` where nothing is known. Amounts are in RM with two decimals; `amount` is what the payer pays in all. */
export function paymentFields(payment: OpenPayment) {
  const { request } = payment;
  const { bank, fpxNo, gatewayNo, mode, orderNo, receiptNo, receivedSen, totalSen } = receiptOf(payment);
  const result = heldWrongAmounts(payment).at(-1) ?? currentResult(payment);
  const status = statusCodeOf(payment);
  return {
    transaction_id: request.transactionId,
    trans_id: request.reference,
    status,
    payment_status: en.statuses[status === '3' ? 'pending' : statusName(payment.status)],
    receipt_no: receiptNo,
    payment_datetime: result ? toDateTime(result.paidAt ?? result.at) : '',
    buyer_name: result?.buyerName || request.payer.name,
    amount: formatSen(totalSen),
    payment_mode: mode === '' ? '' : en.modes[mode],
    fpx_charge: formatSen((totalSen - request.amountSen) as Sen),
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

/** What became of the latest wrong amount, in words for programs; `''` if there was none, or if the payment is paid. */
function statusDetailOf(payment: OpenPayment): '' | 'wrong_amount' | `wrong_amount_${Resolution}` {
  const wrong = heldWrongAmounts(payment).at(-1) ?? wrongAmountsOf(payment).at(-1);
  if (!wrong || payment.status === 'succeeded') return '';
  const resolution = wrong.resolved?.resolution ?? '';
  return resolution === '' || resolution === 'superseded' ? 'wrong_amount' : `wrong_amount_${resolution}`;
}
