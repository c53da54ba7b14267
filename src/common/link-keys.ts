import type { SigningKeys } from '@ledger/kernel/expiring-signature.ts';

/** What signs links, pages and receipts. */
export type LinkKeys = SigningKeys & {
  /** TRANSACTION_ID_KEY, which signed links and receipts of earlier releases. They are valid for years. */
  original: string;
};
