// Statements that are made from a table's columns.
import { givenRows, indexable, insertGiven, quoteIdentifier } from '@ledger/postgres/table.ts';
import test from 'ava';

const columns = {
  id: 'text',
  tokens: 'text[] not null',
  amount_sen: 'bigint not null check (amount_sen >= 0)',
  state: 'json not null',
};

test('rows come in one parameter, each column with its type, and json as text', (t) => {
  t.is(
    givenRows(columns),
    'json_to_recordset(?) as given (id text, tokens text[], amount_sen bigint, state text)',
  );
  t.is(
    insertGiven({ name: 'things', columns }),
    `insert into things (id, tokens, amount_sen, state) select id, tokens, amount_sen, state::json from ${givenRows(columns)}`,
  );
});

test('a name is quoted as one, whatever is in it', (t) => {
  t.is(quoteIdentifier('a.b"c?'), '"a.b""c\\?"');
});

test('whatever a text is, a column can hold and index it', (t) => {
  t.is(indexable('a\ud800b\0c 张'), 'a\ufffdb\ufffdc 张');
  t.is(indexable('x'.repeat(201)).length, 200);
  t.is(indexable(`${'x'.repeat(199)}\u{1f600}`), `${'x'.repeat(199)}\ufffd`, 'cut through a character');
});
