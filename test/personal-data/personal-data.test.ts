/** Sealing, opening and destroying, with the keys in a real Postgres. */
import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { orElse } from '@ledger/kernel/or-else.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { readKeyTables, writeKeyTables } from '@ledger/personal-data/key-backup.ts';
import { createKeyReserve } from '@ledger/personal-data/key-reserve.ts';
import {
  keyInSealed,
  keysPerBlock,
  newBlock,
  readKeyId,
  wrappingKeys,
} from '@ledger/personal-data/key-store.ts';
import { createPersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { KeysUnavailable, openOrWait, type Sealed } from '@ledger/personal-data/sealed.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { query, temporaryFolder, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';
import { testRuntime } from '../support/runtime.ts';

/** Of this name in the ledger; most tests have no such table. */
const madeWithKeys = 'payments.payers';
const dataKey = (character: string) => Buffer.alloc(32, character).toString('base64');
const stream = 'payment-1';
const place = { stream, field: 'personal' } as const;

/** As one process has it; several on one database are several processes. */
function startProcess(
  t: ExecutionContext,
  { url }: { url: string },
  {
    current = dataKey('a'),
    previous = [] as string[],
    ahead = keysPerBlock,
    clock = { nowMs: 0 },
    reserveFolder = '',
  } = {},
) {
  const db = connectPostgres({ url, log });
  const runtime = testRuntime({ monotonicMs: () => clock.nowMs });
  const wrapping = wrappingKeys(current, previous);
  const personalData = createPersonalData({
    store: createPostgresKeyStore({ db, madeWithKeys, wrapping, runtime }),
    ...(reserveFolder !== '' && { reserve: createKeyReserve({ folder: reserveFolder, wrapping, runtime }) }),
    listen: (onNotification) =>
      listenForNotifications({ databaseUrl: url, channel: destroyedChannel, onNotification, log, runtime }),
    isNew: ({ type }) => type === 'PaymentRequested',
    ahead,
    log,
    runtime,
  });
  t.teardown(async () => {
    await personalData.stop();
    await db.destroy();
  });
  return personalData;
}

type Process = ReturnType<typeof startProcess>;

/** A database, and the first process on it, which has begun. */
async function startFirst(t: ExecutionContext, options?: Parameters<typeof startProcess>[2]) {
  const database = await createDatabase();
  const process = startProcess(t, database, options);
  await process.start();
  return { database, process };
}

function sealedBy(
  { seal }: Process,
  value: unknown,
  type = 'PaymentRequested',
): { key: string; data: string } {
  const [event] = seal(stream, [
    { type, data: { at: 'now', personal: { plain: value } as Sealed<unknown> } },
  ]);
  return event?.data.personal as { key: string; data: string };
}

test('whatever JSON can hold comes back from its own place, and from no other', async (t) => {
  const { process } = await startFirst(t, { ahead: 4 * keysPerBlock });
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const sealed = sealedBy(process, value);
      t.deepEqual(await process.open(sealed, place), { kind: 'open', value });
      for (const elsewhere of [
        { ...place, stream: 'payment-2' },
        { ...place, field: 'evidence' as const },
      ])
        t.deepEqual(await process.open(sealed, elsewhere), { kind: 'unavailable', isLost: true });
    }),
    { numRuns: runs(100) },
  );
});

test('each event has a key of its own, which its fields share; other fields stay as they are', async (t) => {
  const { process } = await startFirst(t);
  const data = { at: 'now', personal: { plain: 'Aminah' }, evidence: { plain: { A: '1' } } };
  const [first, second, third] = process
    .seal(stream, [
      { type: 'PaymentFailed', data },
      { type: 'PaymentFailed', data },
      { type: 'PaymentMethodChosen', data: { at: 'now' } },
    ])
    .map((event) => event.data as unknown as Record<string, { key: string; data: string }>);
  t.is(first?.personal?.key, first?.evidence?.key);
  // Two texts under one key and one nonce would give each other away.
  const nonceOf = (sealed?: { data: string }) => Buffer.from(sealed?.data ?? '', 'base64url').subarray(0, 12);
  t.notDeepEqual(nonceOf(first?.personal), nonceOf(first?.evidence));
  t.not(first?.personal?.key, second?.personal?.key);
  t.is(first?.at as unknown, 'now');
  t.deepEqual(third as unknown, { at: 'now' });
  t.false(JSON.stringify([first, second]).includes('Aminah'));
});

test('a backup read in two parts has the keys of both, those destroyed in between as they were', async (t) => {
  const [database, other] = [await createDatabase(), await createDatabase()];
  const process = startProcess(t, database);
  await process.start();
  const destroyed = sealedBy(process, 'Aminah');
  const [db, restored] = [connectPostgres({ ...database, log }), connectPostgres({ ...other, log })];
  t.teardown(() => Promise.all([db.destroy(), restored.destroy()]));
  const known = new Set<string>();
  const lines = await Readable.from(readKeyTables(db, known)).toArray();
  await process.store.destroy([destroyed.key]);
  const another = startProcess(t, database);
  await another.start();
  const added = sealedBy(another, 'Badrul');
  const more = await Readable.from(readKeyTables(db, known)).toArray();
  t.true(lines.length > 0 && more.length > 0);
  t.false(more.some((line) => lines.includes(line)));
  const all = Readable.from([...lines, ...more]);
  await writeKeyTables(restored, all);
  const reader = startProcess(t, other);
  t.deepEqual(await reader.open(destroyed, place), { kind: 'open', value: 'Aminah' });
  t.deepEqual(await reader.open(added, place), { kind: 'open', value: 'Badrul' });
});

test('a backup has every row, however many there are, and is written as a whole or not at all', async (t) => {
  const [{ database }, other] = [await startFirst(t), await createDatabase()];
  // As PostgreSQL may return them: in no order.
  await query(
    database.url,
    `insert into personal_data.key_blocks
       select 'block-' || number, kek_id, '\\x00' from personal_data.key_blocks, generate_series(500, 1, -1) number
       where id = 'index'`,
  );
  const [db, restored] = [connectPostgres({ ...database, log }), connectPostgres({ ...other, log })];
  t.teardown(() => Promise.all([db.destroy(), restored.destroy()]));
  const lines = await Readable.from(readKeyTables(db, new Set())).toArray();
  t.is(lines.length, 502);
  const unknown = Readable.from([...lines, '{"table":"of_a_newer_release","row":{}}']);
  await t.throwsAsync(writeKeyTables(restored, unknown), { message: /table that is not known/ });
  t.deepEqual(await query(other.url, `select to_regnamespace('personal_data') as made`), [{ made: null }]);
  await writeKeyTables(restored, Readable.from(lines));
  t.is((await restored('personal_data.key_blocks')).length, 502);
});

test('a destroyed key opens in no process, and its neighbours still do', async (t) => {
  const database = await createDatabase();
  const [writer, reader] = [startProcess(t, database), startProcess(t, database)];
  await Promise.all([writer.start(), reader.start()]);
  const [gone, kept] = [sealedBy(writer, 'Aminah'), sealedBy(writer, 'Badrul')];
  for (const process of [writer, reader]) {
    t.deepEqual(await process.open(gone, place), { kind: 'open', value: 'Aminah' });
  }
  const unrecorded = reader.store.destroy([gone.key], () => Promise.reject(new Error('not recorded')));
  await t.throwsAsync(unrecorded, { message: 'not recorded' });
  t.is(await reader.store.destroy([gone.key]), 1, 'it was not destroyed before');
  const blocks = () =>
    query(database.url, `select sealed from personal_data.key_blocks where id = '${gone.key.split('.')[0]}'`);
  const before = await blocks();
  await reader.store.destroy([gone.key, 'no-such-block.1', 'nonsense']);
  t.deepEqual(await blocks(), before, 'what is destroyed already is not written again');
  for (const process of [writer, reader]) {
    await until(async () => (await process.open(gone, place)).kind === 'erased');
    t.deepEqual(await process.open(kept, place), { kind: 'open', value: 'Badrul' });
    const beyond = { ...kept, key: kept.key.replace(/\d+$/, String(keysPerBlock)) };
    t.deepEqual(
      await process.open(beyond, place),
      { kind: 'unavailable', isLost: true },
      'there is no such key',
    );
  }
});

test('the key of the blind index is never destroyed, whatever an event names', async (t) => {
  const { store } = startProcess(t, await createDatabase());
  const key = await store.indexKey();
  t.is(await store.destroy(['index.0']), 0);
  t.deepEqual(await store.indexKey(), key);
});

test('a key that was destroyed while its block was missing does not come back with the block', async (t) => {
  const database = await createDatabase();
  const [writer, eraser] = [startProcess(t, database), startProcess(t, database)];
  await writer.start();
  const db = connectPostgres({ url: database.url, log });
  t.teardown(() => db.destroy());
  const blocks = () => db('personal_data.key_blocks');
  // As a failover to a server that lagged does it; the writer stores again what it still has.
  await blocks().whereNot({ id: 'index' }).delete();
  const [gone, kept] = [sealedBy(writer, 'Aminah'), sealedBy(writer, 'Bala')];
  const { block = '', index = 0 } = readKeyId(gone.key) ?? {};
  const isThere = async () => t.fail();
  t.is(await eraser.store.destroy([gone.key], isThere), 0);
  t.is(await eraser.store.destroy([gone.key], isThere), 0);
  const keys = await writer.store.read([block]);
  t.is(keys.size, 0);

  const lost = Buffer.alloc(keysPerBlock * 32, 7);
  await writer.store.add([{ id: block, keys: lost }]);
  const stored = (await eraser.store.read([block])).get(block);
  const expected = Buffer.from(lost);
  expected.fill(0, index * 32, (index + 1) * 32);
  t.deepEqual(stored, expected);
  t.deepEqual(await eraser.open(gone, place), { kind: 'erased' });
  t.is((await eraser.open(kept, place)).kind, 'unavailable', 'another key of the block is not erased');
  t.deepEqual(await eraser.store.rewrap(), { moved: 0, left: 0 });
});

test('destroyed while its block is stored again: the key is gone, whichever comes first', async (t) => {
  const database = await createDatabase();
  const { store } = startProcess(t, database);
  const blocks = Array.from({ length: 6 }, (_, number) => ({
    id: `block-${number}`,
    keys: Buffer.alloc(keysPerBlock * 32, 7),
  }));
  await Promise.all(
    blocks.map((block, number) =>
      Promise.all(
        number % 2 === 0
          ? [store.add([block]), store.destroy([`${block.id}.5`])]
          : [store.destroy([`${block.id}.5`]), store.add([block])],
      ),
    ),
  );
  const stored = await store.read(blocks.map(({ id }) => id));
  for (const { id } of blocks) {
    const keys = stored.get(id);
    t.true(keys instanceof Buffer && keys.subarray(5 * 32, 6 * 32).every((byte) => byte === 0), id);
    t.true(keys instanceof Buffer && keys[0] === 7);
  }
});

test('a key that is destroyed while its block is about to be stored again is gone', async (t) => {
  const database = await createDatabase();
  const { store } = startProcess(t, database);
  await store.indexKey();
  await query(
    database.url,
    `create function wait() returns trigger language plpgsql as
       $$ begin if new.id = 'block' then perform pg_advisory_xact_lock(1); end if; return new; end $$;
     create trigger wait before insert on personal_data.key_blocks for each row execute function wait()`,
  );
  const db = connectPostgres({ url: database.url, log });
  t.teardown(() => db.destroy());
  const waiting = async () =>
    (
      await query(
        database.url,
        `select from pg_locks join pg_database on pg_database.oid = database
       where not granted and datname = current_database()`,
      )
    ).length;
  const both = await db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(1)');
    const stored = store.add([{ id: 'block', keys: Buffer.alloc(keysPerBlock * 32, 7) }]);
    await until(async () => (await waiting()) === 1);
    let isDestroyed = false;
    const destroyed = store.destroy(['block.5']).finally(() => {
      isDestroyed = true;
    });
    await until(async () => isDestroyed || (await waiting()) === 2);
    return { stored, destroyed };
  });
  await both.stored;
  t.is(await both.destroyed, 1);
  const keys = (await store.read(['block'])).get('block');
  t.true(keys instanceof Buffer && keys.subarray(5 * 32, 6 * 32).every((byte) => byte === 0));
});

test('a destroyed key no longer opens after a minute, even if its notification was lost', async (t) => {
  const database = await createDatabase();
  const clock = { nowMs: 0 };
  const writer = startProcess(t, database);
  await writer.start();
  const sealed = sealedBy(writer, 'Aminah');
  // It has not started, so it listens to nothing.
  const deaf = startProcess(t, database, { clock });
  t.deepEqual(await deaf.open(sealed, place), { kind: 'open', value: 'Aminah' });
  await writer.store.destroy([sealed.key]);
  t.is((await deaf.open(sealed, place)).kind, 'open');
  clock.nowMs = 60_001;
  t.is((await deaf.open(sealed, place)).kind, 'erased');
});

/** Ends the connections over which processes hear of keys that were destroyed. */
const endListening = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'ledger ${destroyedChannel}' and datname = current_database()`;

/** As if the store were away, for whoever adds keys. */
const refuseBlocks = `
  create function refuse() returns trigger language plpgsql as $$ begin raise 'away'; end $$;
  create trigger refuse before insert on personal_data.key_blocks execute function refuse()`;

test('what a key of the reserve has sealed is erased like anything else', async (t) => {
  const database = await createDatabase();
  const reserveFolder = await temporaryFolder(t);
  const before = startProcess(t, database, { reserveFolder });
  await before.start();
  await until(async () => (await readdir(reserveFolder)).length === 32);
  await before.stop();
  await query(database.url, refuseBlocks);
  const started = startProcess(t, database, { reserveFolder });
  await started.start();
  t.is((await readdir(reserveFolder)).length, 16);
  const [gone, kept] = [sealedBy(started, 'Aminah'), sealedBy(started, 'Badrul')];
  const reader = startProcess(t, database);
  for (const process of [started, reader])
    t.deepEqual(await process.open(gone, place), { kind: 'open', value: 'Aminah' });
  await startProcess(t, database).store.destroy([gone.key]);
  const later = startProcess(t, database);
  t.deepEqual(await later.open(gone, place), { kind: 'erased' });
  t.deepEqual(await later.open(kept, place), { kind: 'open', value: 'Badrul' });
  await until(async () => (await started.open(gone, place)).kind === 'erased');
  await query(database.url, 'drop trigger refuse on personal_data.key_blocks');
});

test('results can be sealed when requests no longer can, and both again once the store is back', async (t) => {
  const { url } = await createDatabase();
  const process = startProcess(t, { url }, { ahead: 2 * keysPerBlock });
  await process.start();
  await query(url, refuseBlocks);
  let requests = 0;
  const draw = (type: string) => sealedBy(process, 'Aminah', type);
  t.throws(
    () => {
      for (; requests < 10_000; requests += 1) draw('PaymentRequested');
    },
    { instanceOf: KeysUnavailable },
  );
  t.true(requests > 0);
  let results = 0;
  t.throws(
    () => {
      for (; results < 10_000; results += 1) draw('PaymentSucceeded');
    },
    { instanceOf: KeysUnavailable },
  );
  // Some blocks may have been stored before the store went away.
  const drawn = requests + results;
  t.is(drawn % keysPerBlock, 0);
  t.true(results >= Math.floor(drawn / 3) - 1);
  await query(url, 'drop trigger refuse on personal_data.key_blocks');
  await until(async () => {
    try {
      return draw('PaymentRequested');
    } catch {
      return false;
    }
  });
});

test('keys are stored before they are used: what was sealed opens in a process that starts later', async (t) => {
  const { database, process: writer } = await startFirst(t);
  const sealed = sealedBy(writer, 'Aminah');
  t.deepEqual(await startProcess(t, database).open(sealed, place), { kind: 'open', value: 'Aminah' });
});

test('blocks that were never used are removed when the process stops, and others stay', async (t) => {
  const { database, process: writer } = await startFirst(t, { ahead: 3 * keysPerBlock });
  const sealed = sealedBy(writer, 'Aminah');
  const stored = async () =>
    (await query(database.url, `select id from personal_data.key_blocks where id <> 'index'`)).map(
      ({ id }) => id,
    );
  await until(async () => (await stored()).length === 3);
  await writer.stop();
  t.deepEqual(await stored(), [readKeyId(sealed.key)?.block]);
});

test('a rotation: blocks under an earlier key open while it is configured, and rewrap moves them', async (t) => {
  const { database, process: before } = await startFirst(t);
  const sealed = sealedBy(before, 'Aminah');
  const terms = await before.blindIndex(['aminah']);

  const without = startProcess(t, database, { current: dataKey('b') });
  t.deepEqual(await without.open(sealed, place), { kind: 'unavailable', isLost: false });
  await t.throwsAsync(without.blindIndex(['aminah']), { instanceOf: KeysUnavailable });

  const during = startProcess(t, database, { current: dataKey('b'), previous: [dataKey('a')] });
  t.deepEqual(await during.open(sealed, place), { kind: 'open', value: 'Aminah' });
  t.deepEqual(await during.store.rewrap(), { moved: 2, left: 0 });
  t.deepEqual(await during.store.rewrap(), { moved: 0, left: 0 });

  const after = startProcess(t, database, { current: dataKey('b') });
  t.deepEqual(await after.open(sealed, place), { kind: 'open', value: 'Aminah' });
  t.deepEqual(await after.blindIndex(['aminah']), terms);
});

test('rewrap moves more blocks than it looks at together, past those that it cannot move', async (t) => {
  const { database, process } = await startFirst(t);
  const made = Array.from({ length: 120 }, (_, number) => ({
    ...newBlock(testRuntime()),
    id: `${number < 60 ? '00-lost' : 'zz'}-${number}`,
  }));
  await process.store.add(made);
  await query(
    database.url,
    `update personal_data.key_blocks set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where id like '00-lost-%'`,
  );
  const during = startProcess(t, database, { current: dataKey('b'), previous: [dataKey('a')] });
  t.deepEqual(await during.store.rewrap(), { moved: 62, left: 60 });
});

test('a block whose bytes were changed is lost, and no other; its keys can still be destroyed', async (t) => {
  const database = await createDatabase();
  const [writer, other] = [startProcess(t, database), startProcess(t, database)];
  await Promise.all([writer.start(), other.start()]);
  const [first, second] = [sealedBy(writer, 'Aminah'), sealedBy(other, 'Badrul')];
  const block = readKeyId(first.key)?.block ?? '';
  const change = `update personal_data.key_blocks set sealed = set_byte(sealed, 5000, get_byte(sealed, 5000) # 1)`;
  await query(database.url, `${change} where id = '${block}'`);
  const reader = startProcess(t, database);
  const opened = await Promise.all([reader.open(first, place), reader.open(second, place)]);
  t.deepEqual(opened, [
    { kind: 'unavailable', isLost: true },
    { kind: 'open', value: 'Badrul' },
  ]);
  await reader.store.destroy([first.key, second.key]);
  t.deepEqual(await startProcess(t, database).open(second, place), { kind: 'erased' });
  const [row] = await query(
    database.url,
    `select sealed from personal_data.key_blocks where id = '${block}'`,
  );
  t.true(keyInSealed(row?.sealed as Buffer, 0).every((byte) => byte === 0));
  const rotated = startProcess(t, database, { current: dataKey('b'), previous: [dataKey('a')] });
  t.like(await rotated.store.rewrap(), { left: 1 });
});

test('a block under a key that is not configured makes no other unavailable', async (t) => {
  const { database, process: old } = await startFirst(t);
  const present = startProcess(t, database, { current: dataKey('b'), previous: [dataKey('a')] });
  await present.start();
  const [under, mine] = [sealedBy(old, 'Aminah'), sealedBy(present, 'Badrul')];
  const reader = startProcess(t, database, { current: dataKey('b') });
  t.deepEqual(await Promise.all([reader.open(under, place), reader.open(mine, place)]), [
    { kind: 'unavailable', isLost: false },
    { kind: 'open', value: 'Badrul' },
  ]);
  await t.throwsAsync(reader.store.destroy([under.key]), { instanceOf: KeysUnavailable });
  t.like(await reader.store.rewrap(), { moved: 0, left: 2 }, 'that of the blind index, too');
});

test('a process with another data key than the others seals nothing', async (t) => {
  const database = await createDatabase();
  await startProcess(t, database).start();
  const stored = () =>
    query(database.url, 'select kek_id, count(*) from personal_data.key_blocks group by 1');
  const before = await stored();
  t.is(before.length, 1);
  const other = startProcess(t, database, { current: dataKey('b') });
  await t.throwsAsync(other.start(), { instanceOf: ConfigError, message: /neither DATA_KEY nor in/ });
  t.throws(() => sealedBy(other, 'Aminah'), { instanceOf: KeysUnavailable });
  t.deepEqual(await stored(), before);
});

test('the old versions of a row are freed as soon as a key is destroyed', async (t) => {
  const { database, process } = await startFirst(t);
  const sealed = sealedBy(process, 'Aminah');
  await process.store.destroy([sealed.key]);
  const [stats] = await query(
    database.url,
    `select pg_stat_get_last_vacuum_time('personal_data.key_blocks'::regclass) is not null as vacuumed`,
  );
  t.true(stats?.vacuumed);
});

test('old versions that cannot be freed now are left to autovacuum', async (t) => {
  const { database, process } = await startFirst(t);
  const db = connectPostgres({ url: database.url, log });
  t.teardown(() => db.destroy());
  await db.transaction(async (trx) => {
    await trx.raw('lock table personal_data.key_blocks in share update exclusive mode');
    const freed = process.store.freeOldVersions();
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where query like 'vacuum %' and wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await query(database.url, cancel)).length === 1);
    await t.notThrowsAsync(freed);
  });
});

test('keys that a failover lost are stored again once the connection is back', async (t) => {
  const { database, process: writer } = await startFirst(t);
  await query(database.url, 'delete from personal_data.key_blocks');
  await query(database.url, endListening);
  // The index is a block of its own, and is stored first.
  await until(async () => (await query(database.url, 'select id from personal_data.key_blocks')).length > 1);
  const sealed = sealedBy(writer, 'Aminah');
  t.deepEqual(await startProcess(t, database).open(sealed, place), { kind: 'open', value: 'Aminah' });
});

test('an older copy, under a data key that was removed, takes the keys in memory once rewrap has run', async (t) => {
  const database = await createDatabase();
  const [former, current] = [dataKey('a'), dataKey('b')];
  await startProcess(t, database, { current: former }).start();
  await query(database.url, 'create table older as select * from personal_data.key_blocks');
  const operator = startProcess(t, database, { current, previous: [former] });
  t.is((await operator.store.rewrap()).left, 0);
  const writer = startProcess(t, database, { current });
  await writer.start();
  const sealed = sealedBy(writer, 'Aminah');
  t.is(writer.unstored(), 0);
  await query(
    database.url,
    `delete from personal_data.key_blocks; insert into personal_data.key_blocks select * from older;
     ${endListening}`,
  );
  await until(async () => writer.unstored() > 0);
  t.throws(
    () => {
      for (;;) sealedBy(writer, 'Aminah', 'PaymentSucceeded');
    },
    { instanceOf: KeysUnavailable },
    'it stores no new ones either',
  );
  t.is((await operator.store.rewrap()).left, 0);
  await until(async () => writer.unstored() === 0);
  const next = startProcess(t, database, { current });
  t.deepEqual(await next.open(sealed, place), { kind: 'open', value: 'Aminah' });
  await until(async () => orElse(() => sealedBy(writer, 'Aminah', 'PaymentSucceeded'), null) !== null);
});

test('a schema that was dropped is not made anew; the first one of a database is', async (t) => {
  const database = await createDatabase();
  await query(database.url, `create schema payments create table payers (transaction_id text)`);
  const first = startProcess(t, database);
  await first.start();
  const sealed = sealedBy(first, 'Aminah');
  await query(
    database.url,
    `insert into payments.payers values (''); alter schema personal_data rename to kept`,
  );
  const next = startProcess(t, database);
  const fault = 'DATABASE_URL: the schema personal_data is missing: restore it from its backup';
  t.deepEqual((await t.throwsAsync(next.start(), { instanceOf: ConfigError })).faults, [fault]);
  t.deepEqual(await next.open(sealed, place), { kind: 'unavailable', isLost: false }, 'it is not lost');
  await t.throwsAsync(next.blindIndex(['aminah']), { instanceOf: KeysUnavailable });
  t.deepEqual(await query(database.url, `select to_regnamespace('personal_data') as made`), [{ made: null }]);
  await query(database.url, 'alter schema kept rename to personal_data');
  t.deepEqual(await next.open(sealed, place), { kind: 'open', value: 'Aminah' }, 'the same process reads it');
  t.is((await next.blindIndex(['aminah'])).length, 1);
  // Whoever has no backup says so by making an empty one.
  await query(database.url, 'drop schema personal_data cascade; create schema personal_data');
  await startProcess(t, database).start();
});

test('a schema that was dropped takes the keys in memory once somebody has created it again', async (t) => {
  const { database, process: writer } = await startFirst(t);
  const sealed = sealedBy(writer, 'Aminah');
  const terms = await writer.blindIndex(['aminah']);
  const schema = `select to_regnamespace('personal_data') is not null as made`;
  await query(
    database.url,
    `drop schema personal_data cascade;
     ${endListening}`,
  );
  await until(async () => writer.unstored() > 0);
  await t.throwsAsync(writer.store.add([]));
  await t.throwsAsync(writer.store.add([]), { message: /the schema personal_data is missing: restore it/ });
  t.deepEqual(await query(database.url, schema), [{ made: false }], 'a backup can still be restored');
  await query(database.url, 'create schema personal_data');
  await until(async () => writer.unstored() === 0);
  const next = startProcess(t, database);
  t.deepEqual(await next.open(sealed, place), { kind: 'open', value: 'Aminah' });
  t.deepEqual(await next.blindIndex(['aminah']), terms, 'searches and rows keep their key');
});

test('while the store is away, a block serves for an hour and not for longer', async (t) => {
  const { database, process: writer } = await startFirst(t);
  const sealed = sealedBy(writer, 'Aminah');
  const clock = { nowMs: 0 };
  const db = connectPostgres({ url: database.url, log });
  const runtime = testRuntime({ monotonicMs: () => clock.nowMs });
  const store = createPostgresKeyStore({
    db,
    madeWithKeys,
    wrapping: wrappingKeys(dataKey('a'), []),
    runtime,
  });
  let isAway = false;
  const reader = createPersonalData({
    store: { ...store, read: (ids) => (isAway ? Promise.reject(new Error('away')) : store.read(ids)) },
    listen: () => ({ stop: async () => undefined }),
    log,
    runtime,
  });
  t.teardown(() => db.destroy());
  t.is((await reader.open(sealed, place)).kind, 'open');
  isAway = true;
  await reader.start();
  t.teardown(() => reader.stop());
  t.is((await reader.open(sealedBy(reader, 'Bala'), place)).kind, 'open', 'what it has sealed itself');
  clock.nowMs = 3_599_999;
  t.is((await reader.open(sealed, place)).kind, 'open');
  clock.nowMs = 3_600_000;
  t.deepEqual(await reader.open(sealed, place), { kind: 'unavailable', isLost: false });
  await t.throwsAsync(openOrWait(reader.open, sealed, place), { instanceOf: KeysUnavailable });
});

test('Postgres holds no key in plain text', async (t) => {
  const { database, process } = await startFirst(t);
  const rows = await query(database.url, 'select id, sealed from personal_data.key_blocks');
  const found = await process.store.read(rows.map(({ id }) => String(id)));
  for (const { id, sealed } of rows) {
    const keys = found.get(String(id)) as Buffer;
    for (let at = 0; at < keys.length; at += 32)
      t.is((sealed as Buffer).indexOf(keys.subarray(at, at + 32)), -1);
  }
});

test('a term of the blind index is the same in every process, and says nothing', async (t) => {
  const database = await createDatabase();
  const [one, other] = [startProcess(t, database), startProcess(t, database)];
  const [[mine], [theirs]] = await Promise.all([one.blindIndex(['aminah']), other.blindIndex(['aminah'])]);
  t.is(mine, theirs);
  t.regex(mine ?? '', /^[\w-]{22}$/);
});
