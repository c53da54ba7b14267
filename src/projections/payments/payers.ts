/** How payments are found by payer: a blind index, so that the table holds nothing that names or identifies a person. */
import type { Knex } from 'knex';
import { paymentStream, type RequestedPayment } from '../../events/payment.ts';
import { openOrWait, type PersonalDataReader } from '../../events/personal-data.ts';
import { type Table, upsert } from '../../postgres/table.ts';
import { searchTokens } from './search-tokens.ts';

export const payersTable = {
  name: 'payers',
  columns: { transaction_id: 'text', tokens: 'text[] not null' },
  primaryKey: ['transaction_id'],
} satisfies Table;

export const payersIndexes = ['payers_by_token on payers using gin (tokens)'];

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
  const indexed = await blindIndex(found.flatMap(({ tokens }) => tokens));
  let next = 0;
  const written = found.map(({ id, tokens }) => {
    const start = next;
    next += tokens.length;
    return { transaction_id: id, tokens: indexed.slice(start, next) };
  });
  await upsert(db, payersTable, written, ['tokens']);
}
