/**
 * A number that two payments have and only one should have: a gateway transaction, or a receipt number of one merchant.
 * The journal finds them (src/projections/journal/shared-numbers.ts). Each payment after the first that has the number is
 * an exception, whose resolution by staff is in a stream of its own.
 */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

export const sharedNumberKinds = ['sharedGatewayTransaction', 'sharedReceiptNo'] as const;
export type SharedNumberKind = (typeof sharedNumberKinds)[number];

export const sharedNumberEvents = {
  SharedNumberExplained: object({ at: utc, note: string() }),
};
export type SharedNumberEvent = EventOf<typeof sharedNumberEvents>;
export type ExplainedNumber = SharedNumberEvent['data'];

/** The state is null until staff explain it. */
export const sharedNumberFold: Fold<ExplainedNumber | null, SharedNumberEvent> = {
  prefix: 'shared-number-',
  initial: null,
  read: readerOf(sharedNumberEvents),
  evolve: (state, { data }) => state ?? data,
};
export const sharedNumberStream = (id: string) => `${sharedNumberFold.prefix}${id}`;

/** A number that a payment has; `merchantCode` is `''` where the number should be unique among all merchants. */
export type NumberOfPayment = { kind: SharedNumberKind; merchantCode: string; number: string };

/** Texts of any length and content, as a key of fixed length. */
export function numberIdOf({ kind, merchantCode, number }: NumberOfPayment): string {
  return derivedId('number', [kind, merchantCode, number]);
}

/** The id of the exception that a payment has a number which another payment had before. */
export function sharedNumberIdOf(number: NumberOfPayment, transactionId: string): string {
  return derivedId('shared number', [numberIdOf(number), transactionId]);
}
