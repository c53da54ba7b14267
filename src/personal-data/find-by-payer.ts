/** Finds all that is held about a person, by identity card or email address: payments, and results in quarantine. */
import { rowsOf } from '@ledger/kernel/pages.ts';
import { KeysUnavailable, openOrWait } from '@ledger/personal-data/sealed.ts';
import type { Listed } from '@ledger/postgres/listing.ts';
import { isReady } from '@ledger/projections/runtime/lag.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { loadHead } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { type LoadedUnmatched, loadUnmatched } from '../commands/unmatched.ts';
import { type OpenPayment, openPayment } from '../events/open-payment.ts';
import { paymentStream } from '../events/payment.ts';
import { indexedTokens } from '../projections/payments/payers.ts';
import { payments } from '../projections/payments/projection.ts';
import { type FoundPayment, searchPayments } from '../projections/payments/search.ts';
import { numberOf, termsOf } from '../projections/payments/search-tokens.ts';
import { unmatched } from '../projections/unmatched/projection.ts';
import { findUnmatchedHolding } from '../projections/unmatched/queries.ts';

const pageSize = 100;
const catchUpMs = 5_000;
/** A number that identifies a person. A shorter text, or one without a digit, may be a name, an amount or a code in any field. */
const tellingNumber = /^(?=.*\d).{8,}$/;

export const nothingFound = 'No payment and no unmatched result of this person was found.';

export type FoundUnmatched = { id: string; loaded: LoadedUnmatched };

type Dependencies = Omit<Stores<'load' | 'firstAfter'>, 'log'>;

/**
 * Throws KeysUnavailable, also when a read model is behind, because something would be left out; EventStoreUnavailable and
 * the database's error.
 */
export async function findByPayer(text: string, dependencies: Dependencies) {
  const { runtime } = dependencies;
  for (const projection of [payments, unmatched])
    if (!(await isReady(projection, { until: runtime.now(), waitMs: catchUpMs }, dependencies)))
      throw new KeysUnavailable(
        `The read model ${projection.name} is behind the event store, and something would be left out; try again when it has caught up`,
      );
  const found = await findPayments(text, dependencies);
  return { payments: found, unmatched: await findResults(text, found, dependencies) };
}

/**
 * Those found by the email address first, each the newest first. The read model suggests which payments they are, and each
 * payment's own stream confirms it.
 */
async function findPayments(
  text: string,
  { db, eventStore, personalData }: Dependencies,
): Promise<OpenPayment[]> {
  const suggested = new Set<string>();
  for (const terms of [termsOf(text), termsOf(numberOf(text))]) {
    const searchTokens = await indexedTokens(terms, db, personalData);
    const load = (after: Listed<FoundPayment> | null) =>
      searchTokens.length === 0 ? [] : searchPayments(db, { searchTokens }, { limit: pageSize, after });
    for await (const { transactionId } of rowsOf(pageSize, load)) suggested.add(transactionId);
  }
  const found: OpenPayment[] = [];
  for (const id of suggested) {
    const { state } = await loadHead(eventStore, paymentStream(id), paymentDecider);
    if (state.status === 'none') continue;
    const payment = await openPayment(state, personalData.open);
    if (payment.access.kind === 'unavailable' && !payment.access.isLost)
      throw new KeysUnavailable('The keys of personal data cannot be read at present');
    const { email, icNo } = payment.request.payer;
    if (isSame(email, text) || isSame(icNo, text)) found.push(payment);
  }
  return found;
}

/** Opens every result in quarantine: it is about the person if it names one of the payments, or has what was given in a field. */
async function findResults(
  text: string,
  found: readonly OpenPayment[],
  { db, eventStore, personalData }: Dependencies,
): Promise<FoundUnmatched[]> {
  const results: FoundUnmatched[] = [];
  const isTelling = text.includes('@') || tellingNumber.test(numberOf(text));
  const load = (last: string | null) =>
    findUnmatchedHolding(db, { before: null, after: last ?? '', limit: pageSize });
  for await (const id of rowsOf(pageSize, load)) {
    const loaded = await loadUnmatched(id, eventStore);
    if (!loaded) continue;
    const { evidence, stream } = loaded;
    const received = await openOrWait(personalData.open, evidence, { stream, field: 'evidence' });
    const isTheirs = (value: string) =>
      (isTelling && isSame(value, text)) || found.some(({ request }) => request.transactionId === value);
    if (Object.values(received ?? {}).some(isTheirs)) results.push({ id, loaded });
  }
  return results;
}

/** Whether it is the email address that was given, whatever its case, or the number, however it is grouped. */
function isSame(value: string, text: string): boolean {
  if (text.includes('@')) return value.toLowerCase() === text.trim().toLowerCase();
  return numberOf(text) !== '' && !value.includes('@') && numberOf(value) === numberOf(text);
}
