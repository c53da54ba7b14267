/** What exceptions and their resolutions are called, and what each means: content/docs/exceptions.md in a few words. */
import type { Resolution } from '../../../events/payment.ts';
import type { DiscrepancyKind, DiscrepancyResolution } from '../../../events/reconciliation.ts';
import type { UnmatchedReason, UnmatchedResolution } from '../../../events/unmatched.ts';
import type { ListedKind } from '../../../projections/exceptions/queries.ts';

export const kindTexts: Readonly<Record<ListedKind, { name: string; meaning: string }>> = {
  contradiction: {
    name: 'Contradiction',
    meaning:
      'The gateway said something that clashes with what it had said before. The payment kept its status, and no money lies in suspense.',
  },
  amountMismatch: {
    name: 'Wrong amount',
    meaning:
      'The gateway reported a success of another amount or currency than was asked for. The payment was not paid by it, and what the payer was charged lies in suspense.',
  },
  duplicate: {
    name: 'Paid twice',
    meaning:
      'The payment was paid already when the gateway reported another success. What the payer was charged the second time lies in suspense.',
  },
  lateSuccess: {
    name: 'Late success',
    meaning:
      'The payer had been told that the payment failed or was cancelled when it succeeded after all. It is paid, with a receipt; the payer may have paid in another way since.',
  },
  unmatched: {
    name: 'Unmatched result',
    meaning:
      'The gateway reported a result that no payment here takes. It was kept as received, and no payment is made of it.',
  },
  difference: {
    name: 'Difference',
    meaning:
      'An export of the gateway or the registry says otherwise than the ledger. No payment is changed by it.',
  },
};

export const paymentResolutionTexts: Readonly<Record<Resolution, { name: string; meaning: string }>> = {
  refunded: { name: 'Refunded', meaning: 'The money went back to the payer, out of suspense.' },
  credited: { name: 'Credited', meaning: 'The money went to the merchant, out of suspense.' },
  explained: {
    name: 'Explained',
    meaning:
      'No money moves; if any lies in suspense, it was never owed and is taken out again. The note says why.',
  },
};

export const unmatchedResolutionTexts: Readonly<
  Record<UnmatchedResolution, { name: string; meaning: string }>
> = {
  refunded: { name: 'Refunded', meaning: 'The gateway paid the money back to the payer.' },
  settled: {
    name: 'Settled',
    meaning: 'What it reports reached its payment or its agency in another way.',
  },
  explained: { name: 'Explained', meaning: 'No money moved; the note says why.' },
};

export const discrepancyKindTexts: Readonly<Record<DiscrepancyKind, { name: string; meaning: string }>> = {
  missingHere: {
    name: 'Missing here',
    meaning: 'The export has a payment, or another charge of one, that the ledger knows nothing of.',
  },
  missingThere: {
    name: 'Missing there',
    meaning: 'The ledger was told of money for this payment that the export does not hold.',
  },
  amountDiffers: {
    name: 'Amount differs',
    meaning: 'The ledger and the export know this charge, and do not agree how much it was.',
  },
  statusDiffers: {
    name: 'Status differs',
    meaning: 'The ledger and the export know this payment, and do not agree what became of it.',
  },
};

export const discrepancyResolutionTexts: Readonly<
  Record<DiscrepancyResolution, { name: string; meaning: string }>
> = {
  vanished: { name: 'Vanished', meaning: 'A later import of its record found no such difference.' },
  explained: {
    name: 'Explained',
    meaning: 'The note says why it is there; it stays resolved however often it is found.',
  },
};

/** By what the list says. */
export const resolutionTexts: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    ...paymentResolutionTexts,
    ...unmatchedResolutionTexts,
    ...discrepancyResolutionTexts,
  }).map(([key, { name }]) => [key, name]),
);

export const reasonTexts: Readonly<Record<UnmatchedReason, string>> = {
  unknown_transaction: 'There is no such payment here, or it is another merchant’s or another channel’s',
  unreadable: 'It says nothing that can be read as a result',
  unknown_agency: 'Its agency is not in the configuration any more',
};
