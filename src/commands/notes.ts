/** What staff write about a payment for their colleagues. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import { Refused } from './decider.ts';

export type AddNote = { type: 'AddNote'; at: string; note: string };

/** Refused after an erasure, which the next pass would extend to the note. */
export function addNote(
  { at, note }: AddNote,
  { personalData }: Pick<RequestedPayment, 'personalData'>,
): readonly PaymentEvent[] | Refused {
  if (personalData.erasedAt !== null)
    return new Refused('note_not_kept', 'The personal data of this payment are erased, and notes with them');
  return [{ type: 'StaffNoteAdded', data: { at, personal: { plain: { note } } } }];
}
