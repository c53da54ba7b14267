import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { createSharedTransaction } from '@ledger/projections/runtime/shared-transaction.ts';
import test from 'ava';
import type { Knex } from 'knex';
import { createDatabase } from '../../support/postgres.ts';
import { emptyDatabase } from '../helpers.ts';

const postgres = await createDatabase();

async function start() {
  const { db } = await emptyDatabase(postgres);
  await db.raw('drop table if exists written; create table written (name text, transaction text)');
  const write =
    (name: string, work: (trx: Knex.Transaction) => Promise<unknown> = async () => {}) =>
    async (trx: Knex.Transaction): Promise<string> => {
      await trx.raw('insert into written values (?, pg_current_xact_id()::text)', [name]);
      await trx.raw(`set local search_path to ''`);
      await work(trx);
      return name;
    };
  const written = async (): Promise<{ name: string; transaction: string }[]> =>
    (await db.raw('select * from written order by name')).rows;
  return { write, written, transaction: createSharedTransaction(db, systemRuntime) };
}

test.serial('batches of the same moment are committed together, each by its own search path', async (t) => {
  const { write, written, transaction } = await start();
  const names = ['a', 'b', 'c'];
  t.deepEqual(await Promise.all(names.map((name) => transaction(write(name)))), names);
  t.is(await transaction(write('d')), 'd');
  const rows = await written();
  t.deepEqual(
    rows.map(({ name }) => name),
    ['a', 'b', 'c', 'd'],
  );
  t.is(new Set(rows.slice(0, 3).map((row) => row.transaction)).size, 1);
  t.not(rows[3]?.transaction, rows[0]?.transaction);
});

test.serial('one that fails keeps none of the others back, and hears of its own error alone', async (t) => {
  const { write, written, transaction } = await start();
  const fault = new Error('a fault of this one');
  const settled = await Promise.allSettled([
    transaction(write('a')),
    transaction(write('b', (trx) => trx.raw('select 1 / 0').catch(() => Promise.reject(fault)))),
    transaction(write('c')),
  ]);
  t.deepEqual(settled, [
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: fault },
    { status: 'fulfilled', value: 'c' },
  ]);
  t.deepEqual(
    (await written()).map(({ name }) => name),
    ['a', 'c'],
  );
});
