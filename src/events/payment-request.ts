/** What a merchant requests: the first event of a payment. */
import { utc } from '@ledger/kernel/structs.ts';
import { sealed } from '@ledger/personal-data/sealed.ts';
import { array, boolean, enums, integer, nullable, object, optional, string } from 'superstruct';
import { sen } from '../common/money.ts';
import { RequestDetails } from './personal-data.ts';

export const channels = ['generic', 'landreg'] as const;

const PaymentItem = object({
  description: string(),
  /** Land title id (id_hakmilik); `''` where there is none. */
  titleId: string(),
  amountSen: sen,
});

export const paymentRequested = object({
  at: utc,
  transactionId: string(),
  channel: enums(channels),
  merchant: object({ code: string(), id: integer(), name: string() }),
  /** The merchant's own: trans_id, or the land registry's transaksi_id. */
  reference: string(),
  amountSen: sen,
  service: string(),
  description: string(),
  items: array(PaymentItem),
  personal: sealed(RequestDetails),
  /**
   * Recognises the same request (packages/personal-data/fingerprint.ts). It covers the transaction id as well, so that
   * two payments of the same person have nothing in common. Null in events of version 1.
   */
  fingerprint: nullable(string()),
  /** An email address was given, so the payer gets the receipt by email. */
  emailReceipt: boolean(),
  /** `''` on the land-registry channel, whose callback address is configuration. */
  callbackUrl: string(),
  redirectUrl: string(),
  /** The time from which nobody can begin to pay it; absent if it does not expire. */
  expiresAt: optional(utc),
  /** Land-registry branch (kod_cawangan); `''` on the generic channel. */
  branchCode: string(),
});
