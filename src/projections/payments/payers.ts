/** How payments are found by payer: a blind index, so that the table holds nothing that names or identifies a person. */
import { KeysUnavailable, openOrWait, type PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { insertGiven } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/payments.json' with { type: 'json' };
import { sqlOf } from '../../common/sql.ts';
import { paymentStream, type RequestedPayment } from '../../events/payment.ts';
import { searchTokens, spellingsOf } from './search-tokens.ts';

/** The table has rows only if there was a key of the blind index: its schema must not be created again then. */
export const madeWithKeys = 'payments.payers';

/**
 * A text that is no word of any payer. The row with an empty transaction id has its token: if the present key makes
 * another one, the table was made under another key.
 */
const keyMark = '\0';

function checkMark(made: { tokens: string[] } | undefined, mark: string): void {
  if (made && made.tokens[0] !== mark)
    throw new KeysUnavailable(
      'The key of the blind index is not the one under which payers were indexed: restore the schema personal_data, or rebuild payments',
    );
}

/**
 * The tokens of a search as the serving table has them, each in its spellings. Throws KeysUnavailable, also when the key
 * has been replaced, because nothing would be found; and the database's error.
 */
export async function indexedTokens(
  tokens: readonly string[],
  db: Knex,
  { blindIndex }: Pick<PersonalDataReader, 'blindIndex'>,
): Promise<string[][]> {
  if (tokens.length === 0) return [];
  const spelled = [[keyMark], ...tokens.map(spellingsOf)];
  const [[mark = ''] = [], ...indexed] = await Promise.all(spelled.map((each) => blindIndex(each)));
  checkMark(await db(madeWithKeys).where({ transaction_id: '' }).first('tokens').timeout(5_000), mark);
  return indexed;
}

type Changed = { id: string; state: RequestedPayment; first: { revision: number } };

/** Writes the tokens of new payments, and removes those of payments whose personal data are erased. */
export async function writePayers(
  changed: readonly Changed[],
  db: Knex.Transaction,
  { open, blindIndex }: PersonalDataReader,
): Promise<void> {
  const erased = changed.filter(({ state }) => state.personalData.erasedAt !== null);
  if (erased.length > 0)
    await db.raw('delete from payers where transaction_id = any(?)', [erased.map(({ id }) => id)]);
  const fresh = changed.filter(
    ({ first, state }) => first.revision === 0 && state.personalData.erasedAt === null,
  );
  const rows = await Promise.all(
    fresh.map(async ({ id, state }) => {
      const place = { stream: paymentStream(id), field: 'personal' } as const;
      const details = await openOrWait(open, state.request.personal, place);
      return { id, tokens: details && searchTokens(details.payer) };
    }),
  );
  const found = rows.flatMap(({ id, tokens }) => (tokens && tokens.length > 0 ? [{ id, tokens }] : []));
  // The mark is written with every new payment: it must not depend on what was erased by the time of writing.
  if (!changed.some(({ first }) => first.revision === 0)) return;
  const [mark = ''] = await blindIndex([keyMark]);
  const written = await Promise.all(
    found.map(async ({ id, tokens }) => ({ transaction_id: id, tokens: await blindIndex(tokens) })),
  );
  const given = JSON.stringify([{ transaction_id: '', tokens: [mark] }, ...written]);
  const { rows: marked } = await prepared<{ rows: { tokens: string[] }[] }>(db, writeAndFindMark, [given]);
  checkMark(marked[0], mark);
}

const writeAndFindMark = sqlOf('write-payers', { insert: insertGiven(tables.payers) });
