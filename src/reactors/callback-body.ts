/** What a merchant is told of a payment: the fields of the interface document, all of them, all texts. */
import { toDateTime } from '../events/malaysian-time.ts';
import { formatSen } from '../events/money.ts';
import { attemptOf, type RequestedPayment, standingResult } from '../events/payment.ts';
import { receiptOf } from '../receipts/receipt.ts';
import { statusCodeOf } from '../receipts/status-code.ts';
import { statusName, texts } from '../receipts/texts.ts';

export type CallbackFields = ReturnType<typeof callbackFieldsOf>;

/**
 * The callback of a payment's present status; `''` where something is not known. `amount` is what the payer pays in
 * all, `fpx_charge` the part of it that the method charges. Amounts read `1234.50`, the time is Malaysian.
 */
export function callbackFieldsOf(payment: RequestedPayment) {
  const receipt = receiptOf(payment);
  const result = standingResult(payment);
  const attempt = attemptOf(payment, result ?? { sellerOrderNo: '', gatewayTransactionId: '' });
  const { request, status } = payment;
  return {
    transaction_id: request.transactionId,
    trans_id: request.reference,
    status: statusCodeOf(status),
    payment_status: texts.en.statuses[statusName(status)],
    receipt_no: receipt.receiptNo,
    payment_datetime: toDateTime(receipt.at),
    buyer_name: result?.buyerName || request.payer.name,
    amount: formatSen(receipt.totalSen),
    payment_mode: receipt.mode === '' ? '' : texts.en.modes[receipt.mode],
    fpx_charge: attempt ? formatSen(attempt.chargeSen) : '',
    buyer_bank: receipt.bank,
    fpx_transaction_no: receipt.fpxNo,
    seller_order_no: receipt.orderNo,
    merchant_code: request.merchant.code,
    description: request.description,
    service: request.service,
  } satisfies Record<string, string>;
}
