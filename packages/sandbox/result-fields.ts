/** The fields of a result: the same whether the server or the payer's browser brings it. */
import { checksumOf, type Fields } from './checksum.ts';
import type { Order, Result } from './orders.ts';

/** The only bank of the sandbox; "contoh" is Malay for "example". */
export const bankName = 'Bank Contoh';

/** The signed form of a result. Only a success has a RECEIPT_NO. */
export function resultFields(order: Order, result: Result, secret: string): Fields {
  const fields = {
    DIRECTION: 'result',
    STATUS: result.status,
    PAYMENT_MODE: order.paymentMode,
    MERCHANT_CODE: order.merchantCode,
    TRANS_ID: order.transId,
    ...(result.status === '1' && { RECEIPT_NO: receiptNo(result) }),
    PAYMENT_TRANS_ID: result.paymentTransId,
    PAYMENT_DATETIME: malaysianTime(result.decidedAtMs),
    AMOUNT: ringgit(result.amountSen),
    BUYER_BANK: bankName,
    BUYER_NAME: order.buyerName,
    MERCHANT_ORDER_NO: order.orderNo,
  };
  return { ...fields, CHECKSUM: checksumOf(fields, secret) };
}

export function receiptNo(result: Result): string {
  return `SBX${result.paymentTransId}`;
}

/** `YYYY-MM-DD HH:mm:ss` in Asia/Kuala_Lumpur, which has no daylight saving time. */
export function malaysianTime(atMs: number): string {
  const offsetMs = 8 * 60 * 60 * 1000;
  return new Date(atMs + offsetMs).toISOString().slice(0, 19).replace('T', ' ');
}

/** 123456 → `1234.56` */
export function ringgit(amountSen: number): string {
  const digits = String(amountSen).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
