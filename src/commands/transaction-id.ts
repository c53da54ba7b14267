/** A payment's id: the same request gives the same id, so that a repeated request is about the same payment. */
import { derivedId, derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import type { Channel } from '../events/payment.ts';

export const transactionIdPattern = derivedIdPattern;

/**
 * Derived from channel, merchant code and the merchant's reference, so that creating a payment is one append with "no
 * stream" expected, and requery by reference needs no look-up.
 */
export function transactionIdOf(
  key: string,
  channel: Channel,
  merchantCode: string,
  reference: string,
): string {
  return derivedId(key, [channel, merchantCode, reference]);
}

/** One transaksi_id is one payment, whichever agency it is for, so the merchant code is left out. */
export function landregTransactionId(key: string, transaksiId: string): string {
  return transactionIdOf(key, 'landreg', '', transaksiId);
}
