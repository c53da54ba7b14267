/**
 * What tells a row that a projection wrote from one that somebody changed in PostgreSQL: a MAC over all that a receipt is
 * made from. Its key is that of the blind index, which PostgreSQL has only encrypted. Decision 39.
 */
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import type { RequestedPayment } from '../../events/payment.ts';

/** No search token begins with it, so that no token is the MAC of a row. */
const mark = '\0row ';

/** The state is the same text again after it was stored as json. Throws KeysUnavailable. */
export async function macOf(
  { id, revision, state }: { id: string; revision: number; state: RequestedPayment },
  { blindIndex }: Pick<PersonalDataReader, 'blindIndex'>,
): Promise<string> {
  const [mac = ''] = await blindIndex([mark + JSON.stringify([id, revision, state])]);
  return mac;
}
