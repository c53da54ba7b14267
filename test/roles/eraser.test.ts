// What was left behind in the database when a process was killed, and is dropped.
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { createEraser } from '../../src/roles/eraser.ts';
import { emptyDatabase } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';

test('shadow tables of killed processes, of to-do lists too', async (t) => {
  const { db, url } = await emptyDatabase(await createDatabase());
  await db.raw('create table checkpoints (name text primary key, updated_at timestamptz not null)');
  const left = [
    'payments_rebuild',
    'journal_compare',
    'reactor_deliveries_compare',
    'reactor_requeries_compare',
  ];
  for (const schema of [...left, 'payments', 'mine_compare']) await db.raw('create schema ??', [schema]);
  const { dropLeftovers } = createEraser(
    {
      config: {
        databaseUrl: url,
        dataDir: '',
        mail: { smtpUrl: null },
      },
      eventStore: {} as never,
      personalData: { store: {} } as never,
      runtime: systemRuntime,
    },
    db,
  );
  const found = async () => {
    const { rows } = await db.raw(
      `select nspname as name from pg_namespace where nspname ~ '_(compare|rebuild)$' or nspname = 'payments' order by 1`,
    );
    return rows.map(({ name }: { name: string }) => name);
  };
  // A rebuild that was interrupted a moment ago can go on from these.
  await db.raw(`create schema journal_rebuild; insert into checkpoints values ('journal_rebuild', now())`);
  await dropLeftovers(new Date(Date.now() - 3_600_000));
  t.deepEqual(await found(), ['journal_rebuild', 'mine_compare', 'payments']);
  await dropLeftovers();
  t.deepEqual(await found(), ['mine_compare', 'payments'], 'after an erasure, none is spared');
});
