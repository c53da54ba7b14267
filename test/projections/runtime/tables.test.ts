// Tables that an earlier release made.
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import test from 'ava';
import { createDatabase } from '../../support/postgres.ts';
import { log } from '../helpers.ts';

const postgres = await createDatabase();

test('making an index on tables with many rows may take longer than any other statement', async (t) => {
  // The server ends other statements after 1 s, the client after 5 s more.
  const db = connectPostgres({ url: postgres.url, log, longestQueryMs: 1_000 });
  t.teardown(() => db.destroy());
  await db.raw(
    `create function slowly(id text) returns text language plpgsql immutable
     as $$ begin perform pg_catalog.pg_sleep(6.5); return id; end $$`,
  );
  const projection: Projection = {
    name: 'many',
    version: 1,
    streamPrefixes: ['many-'],
    createTables: (trx) => trx.raw('create table many (id text)'),
    project: async () => undefined,
  };
  await prepare(db, projection, projection.name);
  await db.raw(`insert into many.many values ('A')`);
  await prepare(db, { ...projection, indexes: ['many_by_id on many (public.slowly(id))'] }, projection.name);
  const made = await db('pg_indexes').where('schemaname', projection.name).pluck('indexname');
  t.deepEqual(made, ['many_by_id']);
  await t.throwsAsync(db.raw('select pg_sleep(2)'), { message: /statement timeout/ }, 'others end as before');
});
