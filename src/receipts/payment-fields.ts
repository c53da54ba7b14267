/** A payment as callbacks and requeries report it to merchants: all the documented fields, as texts. */
import type { OpenPayment } from '../events/open-payment.ts';
import { currentResult, type PaymentStatus } from '../events/payment.ts';
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
} as const satisfies Record<PaymentStatus, string>;

/** `0` failed, `1` success, `2` cancelled, `3` pending or awaiting payment. */
export const statusCodeOf = (status: PaymentStatus) => codes[status];

export type PaymentFields = ReturnType<typeof paymentFields>;

/** `''` where nothing is known. Amounts are in RM with two decimals; `amount` is what the payer pays in all. */
export function paymentFields(payment: OpenPayment) {
  const { request } = payment;
  const { bank, fpxNo, mode, orderNo, receiptNo, totalSen } = receiptOf(payment);
  const result = currentResult(payment);
  return {
    transaction_id: request.transactionId,
    trans_id: request.reference,
    status: statusCodeOf(payment.status),
    payment_status: en.statuses[payment.status === 'requested' ? 'pending' : statusName(payment.status)],
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
