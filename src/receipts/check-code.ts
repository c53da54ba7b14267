/** A short check that only this service can compute, which tells its receipts from forgeries. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { base32crockford } from '@scure/base';
import type { Receipt } from './receipt.ts';

const checkBytes = 10;

/** Both, because gateways assign the numbers, and two gateways may assign the same one. */
type Verifiable = Pick<Receipt, 'receiptNo' | 'transactionId'>;

/** The key of `verificationCheck`, derived from TRANSACTION_ID_KEY so that neither use weakens the other. */
export function verificationKey(transactionIdKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', transactionIdKey, '', 'receipt verification', 32));
}

/** 16 characters of Crockford base32 (80 bits), specific to this number of this payment. */
export function verificationCheck(key: Buffer, { receiptNo, transactionId }: Verifiable): string {
  // JSON keeps the parts apart whatever characters they contain.
  const signed = JSON.stringify([receiptNo, transactionId]);
  const digest = createHmac('sha256', key).update(signed).digest();
  return base32crockford.encode(digest.subarray(0, checkBytes));
}

/**
 * True when `check` is that of the receipt, compared in constant time. Accepts what people type from paper: either
 * case, O for 0, and I or L for 1, which the alphabet omits for that reason.
 */
export function isVerificationCheck(key: Buffer, receipt: Verifiable, check: string): boolean {
  const given = Buffer.from(check.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1'));
  const right = Buffer.from(verificationCheck(key, receipt));
  return given.length === right.length && timingSafeEqual(given, right);
}

export function verificationUrl(baseUrl: string, key: Buffer, receipt: Verifiable): string {
  const receiptNo = encodeURIComponent(receipt.receiptNo.toWellFormed());
  return `${baseUrl}/verify/${receiptNo}?c=${verificationCheck(key, receipt)}`;
}
