/** The names and meanings of exceptions and their resolutions: content/docs/exceptions.md in a few words. */
import type { Outcome } from '../../../events/payment-result.ts';
import type { DiscrepancyKind, DiscrepancyResolution } from '../../../events/reconciliation.ts';
import type { ExceptionResolution } from '../../../events/recorded-result.ts';
import type { UnmatchedReason, UnmatchedResolution } from '../../../events/unmatched.ts';
import type { ListedKind } from '../../../projections/exceptions/queries.ts';

type Texts<Key extends string> = Readonly<Record<Key, { name: string; meaning: string }>>;

export const kindTexts: Texts<ListedKind> = {
  contradiction: {
    name: 'Contradiction',
    meaning:
      'The gateway reported a result that contradicts an earlier one. The payment kept its status, and no money is in suspense.',
  },
  amountMismatch: {
    name: 'Wrong amount',
    meaning:
      'The gateway reported a success with another amount or currency than was requested. It did not pay the payment, and the money that the payer was charged is in suspense.',
  },
  duplicate: {
    name: 'Paid twice',
    meaning:
      'The gateway reported another success of a payment that was already paid. The money that the payer was charged the second time is in suspense.',
  },
  lateSuccess: {
    name: 'Late success',
    meaning:
      'The payment succeeded after the payer had been told that it failed or was cancelled. It is paid, with a receipt; the payer may have paid in another way since.',
  },
  sharedGatewayTransaction: {
    name: 'Shared gateway transaction',
    meaning:
      'Two payments here name the same transaction of the gateway. The payer was perhaps charged only once: ask the gateway which payment it paid.',
  },
  sharedReceiptNo: {
    name: 'Shared receipt number',
    meaning: 'Two receipts of this merchant have the same number. Both payments stay as they are.',
  },
  approval: {
    name: 'Waits for approval',
    meaning:
      'More money is at stake than one person may decide. It takes effect when another administrator approves it.',
  },
  outcomeUnknown: {
    name: 'Outcome unknown',
    meaning:
      'A payer chose a method and perhaps paid, but no result came, and the registry could not say what became of it until it was asked for the last time. Ask the gateway or the bank.',
  },
  unmatched: {
    name: 'Unmatched result',
    meaning:
      'The gateway reported a result that belongs to no payment here. It is in quarantine as it was received, and no payment was made of it.',
  },
  parked: {
    name: 'Parked stream',
    meaning:
      'An event could not be processed. It and all that follows in its stream are left out of the tables named here until they can be processed; all other streams go on. Newer programs may be able to read it. It is tried again at every start.',
  },
  difference: {
    name: 'Discrepancy',
    meaning: 'An export of the gateway or the registry disagrees with the ledger. It changes no payment.',
  },
};

export const discrepancyTexts: Texts<DiscrepancyKind> = {
  missingHere: {
    name: 'Missing here',
    meaning: 'The export has a payment, or a second charge of one, that the ledger does not have.',
  },
  missingThere: {
    name: 'Missing there',
    meaning: 'The ledger has money for this payment that the export does not have.',
  },
  amountDiffers: {
    name: 'Amount differs',
    meaning: 'The ledger and the export both have this charge, with different amounts.',
  },
  statusDiffers: {
    name: 'Status differs',
    meaning: 'The ledger and the export both have this payment, with different statuses.',
  },
};

export const resolutionNames: Readonly<Record<string, string>> = {
  refunded: 'Refunded',
  credited: 'Credited',
  settled: 'Settled',
  explained: 'Explained',
  reversed: 'Reversed',
  granted: 'Approved',
  rejected: 'Rejected',
  superseded: 'Superseded',
  vanished: 'Cleared',
  succeeded: 'Charged',
  failed: 'Not charged',
  cancelled: 'Cancelled',
} satisfies Record<
  | ExceptionResolution
  | UnmatchedResolution
  | DiscrepancyResolution
  | FinalOutcome
  | keyof typeof approvalOutcomes,
  string
>;

type FinalOutcome = Exclude<Outcome, 'pending'>;

/** What is known by now of an attempt whose outcome was unknown. */
export const outcomeTexts: Readonly<Record<FinalOutcome, string>> = {
  succeeded:
    'The payer was charged. It is decided like any success: the amount asked for pays an open payment.',
  failed: 'The payer was not charged.',
  cancelled: 'The payer was not charged: the attempt was cancelled.',
};

/** What becomes of a proposal. */
export const approvalOutcomes = {
  granted: 'It takes effect now.',
  rejected: 'Nothing happens. The note says why.',
} as const;

/** What each resolution means for an exception of a payment. */
export const paymentResolutions: Readonly<Record<ExceptionResolution, string>> = {
  refunded: 'The money went from suspense back to the payer.',
  credited:
    'The money went from suspense to the merchant. A wrong amount pays the payment, or a part of it where the merchant takes parts.',
  explained: 'No money moves. Money in suspense was never owed and is taken out again. The note says why.',
  reversed: 'The bank took the payment back. It stays successful, and its receipt says so.',
  superseded:
    'A later report of the same gateway transaction is in the books in its place, and its own money was taken out again.',
};

export const sharedNumberResolutions = {
  explained: 'No money moves. The note gives the cause.',
} as const;

export const unmatchedResolutionTexts: Readonly<Record<UnmatchedResolution, string>> = {
  refunded: 'The gateway refunded the money to the payer.',
  settled: 'What it reports reached its payment or its agency in another way.',
  explained: 'No money moved. The note says why.',
};

export const discrepancyResolutions: Readonly<Record<DiscrepancyResolution, string>> = {
  vanished: 'A later import no longer found it.',
  explained: 'The note gives the cause. It stays resolved even when later imports find it again.',
};

export const reasonTexts: Readonly<Record<UnmatchedReason, string>> = {
  unknown_transaction: 'There is no such payment here, or it belongs to another merchant or channel',
  unreadable: 'It cannot be read as a result',
  unknown_agency: 'Its agency is no longer in the configuration',
  unreadable_payment: 'The events of its payment cannot be read',
};

/** In place of what was received. */
export const withheldTexts = {
  erased: 'What was received has been erased.',
  unavailable: 'What was received cannot be shown at the moment.',
} as const;
