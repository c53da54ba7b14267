/** A payment as merchants are told of it, in the callback and by requery: the documented fields, all of them, all texts. */

import { currentResult, type RequestedPayment } from '../events/payment.ts';
import { toDateTime } from '../kernel/malaysian-time.ts';
import { formatSen, type Sen } from '../kernel/money.ts';
import { receiptOf } from './receipt.ts';
import { type StatusCode, statusCodeOf } from './status-code.ts';
import { en } from './texts/en.ts';

/** By the interface's own codes, which have none for a payment that waits for its first result. */
const statusTexts: Readonly<Record<StatusCode, string>> = {
  '0': en.statuses.failed,
  '1': en.statuses.success,
  '2': en.statuses.cancelled,
  '3': en.statuses.pending,
};

export type PaymentFields = ReturnType<typeof paymentFields>;

/** Empty where there is nothing to say. Amounts are in RM with two decimals; `amount` is what the payer pays in all. */
export function paymentFields(payment: RequestedPayment) {
  const { request } = payment;
  const { bank, fpxNo, mode, orderNo, receiptNo, totalSen } = receiptOf(payment);
  const result = currentResult(payment);
  const status = statusCodeOf(payment.status);
  return {
    transaction_id: request.transactionId,
    trans_id: request.reference,
    status,
    payment_status: statusTexts[status],
    receipt_no: receiptNo,
    payment_datetime: result ? toDateTime(result.paidAt ?? result.at) : '',
    buyer_name: result?.buyerName || request.payer.name,
    amount: formatSen(totalSen),
    payment_mode: mode === '' ? '' : en.modes[mode],
    fpx_charge: formatSen((totalSen - request.amountSen) as Sen),
    buyer_bank: bank,
    fpx_transaction_no: fpxNo,
    seller_order_no: orderNo,
    merchant_code: request.merchant.code,
    description: request.description,
    service: request.service,
  };
}
