/** All payments of one person, found by the number of the identity card or by the email address. */
import type { Knex } from 'knex';
import { loadHead } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { type OpenPayment, openPayment } from '../events/open-payment.ts';
import { paymentStream } from '../events/payment.ts';
import { KeysUnavailable, type PersonalDataReader } from '../events/personal-data.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type FoundPayment, searchPayments } from '../projections/payments/queries.ts';
import { termsOf } from '../projections/payments/search-tokens.ts';

const pageSize = 100;

/**
 * The newest first. The read model suggests which payments they are, and each payment's own stream confirms it. Throws
 * KeysUnavailable, EventStoreUnavailable and the database's error.
 */
export async function findByPayer(
  text: string,
  {
    db,
    eventStore,
    personalData,
  }: { db: Knex; eventStore: Pick<EventStore, 'load'>; personalData: PersonalDataReader },
): Promise<OpenPayment[]> {
  const searchTokens = await personalData.blindIndex(termsOf(text));
  if (searchTokens.length === 0) return [];
  const found: OpenPayment[] = [];
  let last: FoundPayment | undefined;
  do {
    const page: FoundPayment[] = await searchPayments(
      db,
      { searchTokens },
      { limit: pageSize, after: last ?? null },
    );
    for (const { transactionId } of page) {
      const { state } = await loadHead(eventStore, paymentStream(transactionId), paymentDecider);
      if (state.status === 'none') continue;
      const payment = await openPayment(state, personalData.open);
      if (payment.access.kind === 'unavailable' && !payment.access.isLost)
        throw new KeysUnavailable('The keys of personal data cannot be read at present');
      if (isPaidBy(payment, text)) found.push(payment);
    }
    last = page.length === pageSize ? page.at(-1) : undefined;
  } while (last);
  return found;
}

/** Whether the text is the payer's email address, whatever its case, or identity card, however it is grouped. */
function isPaidBy({ request: { payer } }: OpenPayment, text: string): boolean {
  const given = text.trim().toLowerCase();
  const number = (value: string) => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  if (given === '') return false;
  return payer.email.toLowerCase() === given || (payer.icNo !== '' && number(payer.icNo) === number(given));
}
