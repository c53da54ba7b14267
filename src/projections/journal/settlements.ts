/** Payouts and remittances: tables of the journal, so that their postings and those of payments are in one transaction. */
import type { Knex } from 'knex';
import { readSettlementEvent } from '../../events/codec.ts';
import {
  enterSettlement,
  evolveSettlement,
  noSettlement,
  type PayoutLine,
  type Settlement,
  type SettlementEvent,
  settlementStreamPrefix,
} from '../../events/settlement.ts';
import { sharedNumberIdOf } from '../../events/shared-number.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { dayOf } from '../../kernel/malaysian-time.ts';
import { indexable, type Table, upsert } from '../../postgres/table.ts';
import { insertPostings, type PostingRow } from './postings-table.ts';

const settlementsTable: Table = {
  name: 'settlements',
  columns: {
    id: 'text',
    revision: 'integer not null',
    kind: 'text',
    reference: 'text',
    at: 'timestamptz',
    settled_on: 'date',
    total_sen: 'bigint',
    reversed_at: 'timestamptz',
    state: 'json not null',
  },
  primaryKey: ['id'],
};

const linesTable: Table = {
  name: 'payout_lines',
  columns: {
    settlement_id: 'text not null',
    no: 'integer not null',
    charge: 'text not null',
    transaction_id: 'text not null',
    amount_sen: 'bigint not null',
  },
  primaryKey: ['settlement_id', 'no'],
};

export const settlementTables: readonly Table[] = [settlementsTable, linesTable];
export const settlementIndexes = [
  'settlements_by_time on settlements (at, id) where at is not null',
  'payout_lines_by_payment on payout_lines (transaction_id)',
];
/** The projection itself looks for lines by charge. */
export const linesByCharge = 'create index payout_lines_by_charge on payout_lines (charge)';

/** One event after the other: they are few. Skips an event that the row already contains. */
export async function writeSettlements(
  events: readonly RecordedEvent[],
  db: Knex.Transaction,
): Promise<void> {
  for (const recorded of events) {
    const id = recorded.streamName.slice(settlementStreamPrefix.length);
    const row = await db<{ id: string; revision: number; state: Settlement }>('settlements')
      .where({ id })
      .first('revision', 'state');
    if (row && recorded.revision <= row.revision) continue;
    await writeOne(id, recorded.revision, readSettlementEvent(recorded), row?.state ?? noSettlement, db);
  }
}

async function writeOne(
  id: string,
  revision: number,
  event: SettlementEvent,
  before: Settlement,
  db: Knex.Transaction,
): Promise<void> {
  const state = evolveSettlement(before, event);
  const { recorded, reversed } = state;
  const row = {
    id,
    revision,
    kind: recorded?.kind ?? null,
    reference: recorded && indexable(recorded.reference),
    at: recorded?.at ?? null,
    settled_on: recorded?.settledOn ?? null,
    total_sen: recorded?.totalSen ?? null,
    reversed_at: reversed?.at ?? null,
    state: JSON.stringify(state),
  };
  await upsert(db, settlementsTable, [row], Object.keys(row));
  const { at } = event.data;
  if (event.type === 'PayoutLinesListed' && state !== before) {
    if (event.data.from === 0) await db('payout_lines').where({ settlement_id: id }).delete();
    await upsert(db, linesTable, linesOf(id, event.data));
  }
  const entry = enterSettlement(before, event);
  const postings = entry?.postings.map(
    ({ account, creditSen, debitSen, openedOn }, index): PostingRow => ({
      transaction_id: id,
      revision,
      line: index + 1,
      kind: entry.kind,
      account: indexable(account),
      merchant_code: indexable(account.startsWith('merchant:') ? account.slice('merchant:'.length) : ''),
      debit_sen: String(debitSen),
      credit_sen: String(creditSen),
      at,
      value_at: entry.valueAt,
      day: dayOf(at),
      opened_on: openedOn ?? 'infinity',
    }),
  );
  await insertPostings(db, postings ?? []);
  if (event.type === 'SettlementRecorded') await writeNamedTwice(id, at, db);
  if (event.type === 'SettlementReversed') await db.raw(clearNamedTwice, { id, at });
}

const linesOf = (id: string, { from, lines }: { from: number; lines: readonly PayoutLine[] }) =>
  lines.map(({ amountSen, gatewayTransactionId, transactionId }, index) => ({
    settlement_id: id,
    no: from + index + 1,
    charge: indexable(gatewayTransactionId || transactionId),
    transaction_id: indexable(transactionId),
    amount_sen: amountSen,
  }));

/** A charge that another payout has too, or this one twice, is an exception like a number that two payments share. */
async function writeNamedTwice(id: string, at: string, db: Knex.Transaction): Promise<void> {
  const { rows } = await db.raw<{ rows: { charge: string; first: string; amount: number }[] }>(
    findNamedTwice,
    {
      id,
    },
  );
  const found = rows.map(({ charge, first, amount }) => ({
    id: sharedNumberIdOf({ kind: 'paidOutTwice', merchantCode: '', number: charge }, id),
    kind: 'paidOutTwice',
    number: charge,
    merchant_code: '',
    transaction_id: id,
    first_transaction_id: first,
    at,
    amount_sen: amount,
  }));
  if (found.length === 0) return;
  // It may have been reversed, and recorded again.
  await db('shared_numbers').insert(found).onConflict('id').merge({ resolution: null, resolved_at: null });
}

const findNamedTwice = `
  select distinct on (charge) charge, other.settlement_id as first, mine.amount_sen as amount
  from payout_lines mine join payout_lines other using (charge)
    join settlements on settlements.id = other.settlement_id and at is not null and reversed_at is null
  where mine.settlement_id = :id and (other.settlement_id <> :id or other.no < mine.no)
  order by charge, settlements.at, other.settlement_id, other.no`;

const clearNamedTwice = `
  update shared_numbers set resolution = 'reversed', resolved_at = :at
  where kind = 'paidOutTwice' and resolved_at is null and :id in (transaction_id, first_transaction_id)`;
