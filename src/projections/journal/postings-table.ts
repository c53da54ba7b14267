/** The postings, and the sums of each account and day for quick balances: tables of the journal. */
import type { Knex } from 'knex';
import { givenRows, type Row, type Table } from '../../postgres/table.ts';

export const postingsTable = {
  name: 'postings',
  columns: {
    transaction_id: 'text not null',
    revision: 'integer not null',
    line: 'integer not null',
    kind: 'text not null',
    account: 'text not null',
    merchant_code: 'text not null',
    debit_sen: 'bigint not null check (debit_sen >= 0)',
    credit_sen: 'bigint not null check (credit_sen >= 0)',
    at: 'timestamptz not null',
    value_at: 'timestamptz not null',
    // The Malaysian day on which the money came that the posting is about; infinity where that is not known.
    opened_on: 'date not null',
  },
  primaryKey: ['transaction_id', 'revision', 'line'],
} satisfies Table;

export const dailySumsTable: Table = {
  name: 'daily_sums',
  // Sums outgrow 64 bits sooner than single amounts.
  columns: {
    account: 'text not null',
    day: 'date not null',
    opened_on: 'date not null',
    debit_sen: 'numeric not null',
    credit_sen: 'numeric not null',
  },
  primaryKey: ['account', 'day', 'opened_on'],
};

/** `opened_on` is null where the payment's earlier postings tell it. */
export type PostingRow = Row<keyof typeof postingsTable.columns | 'day'>;

/** Rejects a posting that exists already, because it would count twice in the sums. */
export async function insertPostings(db: Knex.Transaction, postings: readonly PostingRow[]): Promise<void> {
  if (postings.length > 0) await db.raw(insertAll, [JSON.stringify(postings)]);
}

const columns = Object.keys(postingsTable.columns);
const values = columns.map((name) => (name === 'opened_on' ? 'coalesce(opened_on, found_on)' : name));

/** Whether a posting brings money to its account; the gateway's are debited when it comes, all others are credited. */
const brings = (posting: string) => `((${posting}.account like 'gateway:%') = (${posting}.debit_sen > 0))`;

// A posting that takes money out is about the last one of its payment that brought as much, else about the last one.
const insertAll = `
  with given as materialized (
    select * from ${givenRows({ ...postingsTable.columns, day: 'date' })}
  ),
  added as materialized (
    select given.*, case when opened_on is not null or ${brings('given')} then day else coalesce((
      select before.day from (
        select account, debit_sen, credit_sen, revision, opened_on as day from postings
        where transaction_id = given.transaction_id
        union all
        select account, debit_sen, credit_sen, revision, day from given as same
        where transaction_id = given.transaction_id
      ) before
      where before.account = given.account and before.revision < given.revision and ${brings('before')}
      order by before.debit_sen + before.credit_sen = given.debit_sen + given.credit_sen desc, before.revision desc
      limit 1
    ), day) end as found_on
    from given
  ),
  inserted as (
    insert into postings (${columns.join(', ')}) select ${values.join(', ')} from added
  )
  insert into daily_sums (account, day, opened_on, debit_sen, credit_sen)
  select account, day, coalesce(opened_on, found_on), sum(debit_sen), sum(credit_sen) from added group by 1, 2, 3
  on conflict (account, day, opened_on) do update set
    debit_sen = daily_sums.debit_sen + excluded.debit_sen,
    credit_sen = daily_sums.credit_sen + excluded.credit_sen`;
