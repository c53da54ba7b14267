import type { Position } from '@ledger/event-store/event-store.ts';
import { advance, checkpointsSql, projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import { createDatabase } from '../../support/postgres.ts';
import { emptyDatabase } from '../helpers.ts';

test('in a batch each given row is looked up in the index, also where the table is small when it is planned', async (t) => {
  const { db } = await emptyDatabase(await createDatabase());
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

test('a batch that names no event keeps the one by which the log is recognised', async (t) => {
  const { db } = await emptyDatabase(await createDatabase());
  await db.raw(`${checkpointsSql}; insert into checkpoints (name, version) values ('kept', 1)`);
  const target = { projection: { version: 1 }, schema: 'kept' };
  const [first, second] = [1n, 2n].map((at) => ({ commit: at, prepare: at })) as [Position, Position];
  const last = { id: 'an event', position: first };
  const batches = [
    { from: null, batch: { events: [], position: first, last } },
    { from: first, batch: { events: [], position: second, last: null } },
  ];
  for (const { from, batch } of batches)
    await db.transaction((trx) => advance(trx, target, from, batch).then(() => undefined));
  t.like((await projectionStatus(db))[0], { position: second, lastEvent: last });
});
