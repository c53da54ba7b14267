// Lists of streams: the order of their creation, the same rows after a replay, and states that hold any text.
import { randomUUID } from 'node:crypto';
import { createListQueries } from '@ledger/projections/runtime/list-projection.ts';
import test from 'ava';
import type { Account } from '../../../src/events/user.ts';
import { userStream } from '../../../src/events/user.ts';
import { users } from '../../../src/projections/users/projection.ts';
import { query } from '../../embedded/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { emptyDatabase, reached, run, startStores } from '../helpers.ts';

const postgres = await createDatabase();

const created = (id: string, name: string) => ({
  id: randomUUID(),
  type: 'UserCreated',
  data: { at: '2026-11-20T01:02:03.000Z', id, name, email: `${id}@agency.example`, role: 'member' },
  metadata: { schemaVersion: 1 },
});

test.serial(
  'entries come in the order in which their streams began, and a replay adds nothing',
  async (t) => {
    await query(postgres.url, 'drop schema if exists users cascade');
    const { database, store, db } = await startStores(t, postgres);
    const { append } = store.eventStore;
    const listProjection = createListQueries<Account>(db, 'users');
    const page = async (limit: number, after: string | null) =>
      (await listProjection.list({ limit, after }))?.map(({ id }) => id) ?? null;

    const first = run(t, users, store, database);
    // Neither the ids nor the times are in this order.
    for (const id of ['C', 'A', 'D', 'B']) await append(userStream(id), [created(id, 'Li')], 'no_stream');
    const odd = created('E', 'U+0000 \0, half a pair \ud800, ? and ??');
    const last = await append(userStream('E'), [odd], 'no_stream');
    await reached(db, 'users', last.position);
    t.deepEqual(await page(2, null), ['C', 'A']);
    t.deepEqual(await page(2, 'A'), ['D', 'B']);
    t.deepEqual(await page(2, 'B'), ['E']);
    t.deepEqual(await page(2, 'E'), []);
    t.is(await page(2, 'F'), null);
    t.true(await listProjection.has('E'));
    t.false(await listProjection.has('F'));
    t.is((await listProjection.list({ limit: 1, after: 'B' }))?.[0]?.name, odd.data.name);

    const changed = { id: randomUUID(), type: 'UserRoleChanged', metadata: { schemaVersion: 1 } };
    const change = { ...changed, data: { at: '2026-11-20T01:02:03.000Z', role: 'viewer' } };
    const { position } = await append(userStream('A'), [change], 0);
    await reached(db, 'users', position);
    const roles = async () => (await listProjection.list({ limit: 9, after: null }))?.map(({ role }) => role);
    t.deepEqual(await roles(), ['member', 'viewer', 'member', 'member', 'member']);

    await first.stop();
    await db.raw('update checkpoints set commit_position = null, prepare_position = null');
    run(t, users, store, database);
    await reached(db, 'users', position);
    t.deepEqual(await page(9, null), ['C', 'A', 'D', 'B', 'E']);
    t.deepEqual(await roles(), ['member', 'viewer', 'member', 'member', 'member']);
  },
);

test.serial('before the projection first ran there is no list', async (t) => {
  await query(postgres.url, 'drop schema if exists users cascade');
  const { db } = await emptyDatabase(postgres);
  const { has, list } = createListQueries<Account>(db, 'users');
  await t.throwsAsync(has('A'), { message: /does not exist/ });
  await t.throwsAsync(list({ limit: 1, after: null }), { message: /does not exist/ });
});
