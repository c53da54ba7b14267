/** A short check that only this service can compute, which tells its receipts from forgeries. */
import { createHmac, hkdfSync } from 'node:crypto';
import { isSameText } from '@ledger/kernel/same-text.ts';
import { base32crockford } from '@scure/base';
import type { LinkKeys } from '../common/link-keys.ts';
import type { Receipt } from './receipt.ts';

const checkBytes = 10;

/** The number alone would not do: gateways assign the numbers, and two gateways may assign the same one. */
type Verifiable = Pick<Receipt, 'receiptNo' | 'transactionId'>;

/** The keys of checks: the first one makes them, and all are accepted, because receipts are on paper for years. */
export type VerificationKeys = readonly [current: Buffer, ...others: Buffer[]];

/** Derived, so that no other use of the same keys weakens this one. */
export function verificationKeys({ current, others, original }: LinkKeys): VerificationKeys {
  const derive = (key: string) => Buffer.from(hkdfSync('sha256', key, '', 'receipt verification', 32));
  return [derive(current), ...others.map(derive), derive(original)];
}

/** 16 characters of Crockford base32 (80 bits), specific to this number of this payment. */
export function verificationCheck([key]: VerificationKeys, { receiptNo, transactionId }: Verifiable): string {
  // JSON keeps the parts apart whatever characters they contain.
  const signed = JSON.stringify([receiptNo, transactionId]);
  const digest = createHmac('sha256', key).update(signed).digest();
  return base32crockford.encode(digest.subarray(0, checkBytes));
}

/**
 * True when `check` is that of the receipt, compared in constant time. Accepts what people type from paper: either
 * case, O for 0, and I or L for 1, which the alphabet omits for that reason.
 */
export function isVerificationCheck(keys: VerificationKeys, receipt: Verifiable, check: string): boolean {
  const given = check.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1');
  return keys.some((key) => isSameText(given, verificationCheck([key], receipt)));
}

export function verificationUrl(baseUrl: string, keys: VerificationKeys, receipt: Verifiable): string {
  const receiptNo = encodeURIComponent(receipt.receiptNo.toWellFormed());
  return `${baseUrl}/verify/${receiptNo}?c=${verificationCheck(keys, receipt)}`;
}
