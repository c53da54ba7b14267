import { advance, checkpointsSql } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import { createDatabase } from '../../support/postgres.ts';
import { emptyDatabase } from '../helpers.ts';

test('in a batch each given row is looked up in the index, also where the table is small when it is planned', async (t) => {
  const { db } = await emptyDatabase(t, await createDatabase());
  await db.raw(`${checkpointsSql};
    insert into checkpoints (name, version) values ('kept', 1);
    create schema kept;
    create table kept.numbers (id text primary key, revision integer);
    insert into kept.numbers select number::text, 1 from generate_series(1, 1000) as number;
    analyze kept.numbers`);
  const update = `explain update numbers set revision = 2
    from json_to_recordset('[{"id": "7"}]') as given (id text) where numbers.id = given.id`;
  const plan = await db.transaction(async (trx) => {
    const position = { commit: 1n, prepare: 1n };
    await advance(trx, { projection: { version: 1 }, schema: 'kept' }, null, { events: [], position });
    const { rows } = await trx.raw<{ rows: Record<string, string>[] }>(update);
    return rows.flatMap((row) => Object.values(row)).join('\n');
  });
  t.regex(plan, /Nested Loop/);
  t.regex(plan, /Index Cond: \(id = given\.id\)/);
});
