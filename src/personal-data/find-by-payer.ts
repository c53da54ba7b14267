/** All payments of one person, found by the number of the identity card or by the email address. */
import type { Knex } from 'knex';
import { loadHead } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { type OpenPayment, openPayment } from '../events/open-payment.ts';
import { paymentStream } from '../events/payment.ts';
import { KeysUnavailable, type PersonalDataReader } from '../events/personal-data.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { indexedTokens } from '../projections/payments/payers.ts';
import { payments } from '../projections/payments/projection.ts';
import { type FoundPayment, searchPayments } from '../projections/payments/queries.ts';
import { numberOf, termsOf } from '../projections/payments/search-tokens.ts';
import { projectionStatus } from '../projections/runtime/checkpoints.ts';
import { isReady } from '../projections/runtime/lag.ts';

const pageSize = 100;
const catchUpMs = 5_000;

/**
 * Those found by the email address first, each the newest first. The read model suggests which payments they are, and
 * each payment's own stream confirms it. Throws KeysUnavailable, also when the read model is behind,
 * EventStoreUnavailable and the database's error.
 */
export async function findByPayer(
  text: string,
  {
    db,
    eventStore,
    personalData,
    runtime,
  }: {
    db: Knex;
    eventStore: Pick<EventStore, 'load' | 'firstAfter'>;
    personalData: PersonalDataReader;
    runtime: Pick<Runtime, 'now' | 'monotonicMs' | 'sleep' | 'timeout'>;
  },
): Promise<OpenPayment[]> {
  const sources = { eventStore, runtime, projectionStatus: () => projectionStatus(db) };
  if (!(await isReady(payments, { until: runtime.now(), waitMs: catchUpMs }, sources)))
    throw new KeysUnavailable(
      'The read model of payments is behind the event store, and payments would be left out; try again when it has caught up',
    );
  const ids = new Set<string>();
  for (const terms of [termsOf(text), termsOf(numberOf(text))])
    for await (const id of suggested(await indexedTokens(terms, db, personalData), db)) ids.add(id);
  const found: OpenPayment[] = [];
  for (const id of ids) {
    const { state } = await loadHead(eventStore, paymentStream(id), paymentDecider);
    if (state.status === 'none') continue;
    const payment = await openPayment(state, personalData.open);
    if (payment.access.kind === 'unavailable' && !payment.access.isLost)
      throw new KeysUnavailable('The keys of personal data cannot be read at present');
    if (isPaidBy(payment, text)) found.push(payment);
  }
  return found;
}

async function* suggested(searchTokens: readonly string[], db: Knex): AsyncGenerator<string> {
  if (searchTokens.length === 0) return;
  let page: FoundPayment[] = [];
  do {
    page = await searchPayments(db, { searchTokens }, { limit: pageSize, after: page.at(-1) ?? null });
    for (const { transactionId } of page) yield transactionId;
  } while (page.length === pageSize);
}

/** Whether the text is the payer's email address, whatever its case, or identity card, however it is grouped. */
function isPaidBy({ request: { payer } }: OpenPayment, text: string): boolean {
  const given = text.trim().toLowerCase();
  if (given === '') return false;
  const number = numberOf(text);
  return payer.email.toLowerCase() === given || (number !== '' && numberOf(payer.icNo) === number);
}
