// What health and readiness know of stores and projections, at once even while a store hangs; and /api/v1/health.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreFull } from '@ledger/event-store/event-store.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import pg from 'pg';
import { startPostgres } from '../../../packages/embedded/postgres.ts';
import { createLook, type Look } from '../../../src/monitoring/health.ts';
import { spawnStore } from '../../embedded/eventstore/harness.ts';
import { query, signalPostgres, temporaryFolder, until } from '../../embedded/helpers.ts';
import { log } from '../../projections/helpers.ts';
import { startServerProcess } from '../../support/event-store.ts';
import { runLedger, settingsFor } from '../../support/ledger.ts';
import { folderWithCluster } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { aminah, type Service, startService } from './helpers.ts';

const dataDir = await folderWithCluster(wholeFile);
const isDiskSmall = putOnSmallDisk(join(dataDir, 'postgres/data/base'));
const { url, stop } = await startPostgres({ dataDir, log });
wholeFile.teardown(stop);
const postgres = { url, dataDir };

/** Puts what is in a folder on a disk of its own with little room; false where this account may not. */
function putOnSmallDisk(folder: string): boolean {
  const [megabytes] = execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).split('\t');
  try {
    execFileSync('mv', [folder, `${folder}-copy`]);
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${Number(megabytes) + 16}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
    wholeFile.teardown(() => execFileSync('umount', ['--lazy', folder]));
    execFileSync('cp', ['-a', `${folder}-copy/.`, folder]);
    return true;
  } catch {
    rmdirSync(folder);
    execFileSync('mv', [`${folder}-copy`, folder]);
    return false;
  }
}

/** The limit allows for a busy machine: if health waited for a frozen store, it would wait for minutes. */
async function healthOf(service: Service): Promise<Look> {
  const [response, look] = await Promise.all([
    service.api('/health', { signal: AbortSignal.timeout(60_000) }),
    service.look(),
  ]);
  if (response.status !== 200) throw new Error(`health answered ${response.status}`);
  return look;
}

/** Looks until health is as expected; every look on the way is answered. */
const untilHealth = (service: Service, is: (health: Look) => boolean) =>
  until(async () => {
    const health = await healthOf(service);
    if (is(health)) return health;
    await sleep(100);
    return false;
  });

const isOk = ({ status }: Look) => status === 'ok';
const append = (service: Service, stream: string, type: string, data: unknown) =>
  service.eventStore.append(
    stream,
    [{ id: randomUUID(), type, data, metadata: { schemaVersion: 1 } }],
    'no_stream',
  );

test('a wrong clock means degraded', async (t) => {
  const statusWith = async (differenceMs: number | null) => {
    const look = createLook({
      eventStore: { loadLast: async () => null, firstAfter: async () => null, isDiskFull: () => false },
      projections: [],
      projectionStatus: async () => [],
      sealingRefused: async () => null,
      isReadOnly: async () => false,
      clockDifferenceMs: () => differenceMs,
      runtime: testRuntime(),
      log,
    });
    return (await look()).status;
  };
  for (const difference of [null, 0, 5_000, -5_000]) t.is(await statusWith(difference), 'ok');
  for (const difference of [5_001, -5_001]) t.is(await statusWith(difference), 'degraded');
});

test.serial('all is well; health answers the four fields of the interface and no other', async (t) => {
  const beganMs = Date.now();
  const service = await startService(t, postgres);
  await service.runProjections();
  const { at: _, ...look } = await untilHealth(service, isOk);
  t.deepEqual(look, {
    status: 'ok',
    eventStore: 'up',
    postgres: 'up',
    projections: ['users', 'projects'].map((name) => ({
      name,
      status: 'ok',
      lagMs: 0,
      fault: null,
      parked: 0,
    })),
    clockDifferenceMs: 0,
  });
  const { timestamp, ...health } = (await (await service.api('/health')).json()) as Record<string, string>;
  t.deepEqual(health, {
    status: 'ok',
    version: '1.2.3',
    runtime: `Node.js ${process.version} on ${process.platform} ${process.arch}`,
  });
  t.regex(timestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/);
  const saidMs = Date.parse(timestamp ?? '');
  t.true(saidMs > beganMs - 1_000 && saidMs <= Date.now(), 'in whole seconds');
});

test.serial('a projection that has never run means degraded', async (t) => {
  const service = await startService(t, postgres);
  const health = await untilHealth(service, ({ status }) => status !== 'error');
  t.is(health.status, 'degraded');
  t.like(health.projections[0], { name: 'users', status: 'stopped', fault: 'It has never run' });
});

test.serial('a projection that lags means degraded, and its lag is shown', async (t) => {
  let ahead = 0;
  const service = await startService(t, postgres, { clock: () => new Date(Date.now() + ahead) });
  await service.runProjections();
  await untilHealth(service, isOk);
  for (const run of service.runs) await run.stop();
  await service.postUser(aminah);
  const busy = await untilHealth(service, ({ projections }) => (projections[0]?.lagMs ?? 0) > 0);
  t.is(busy.status, 'ok', 'a moment behind is only busy');
  ahead = 60_000;
  const behind = await untilHealth(service, ({ status }) => status === 'degraded');
  t.true((behind.projections[0]?.lagMs ?? 0) >= 60_000);
  t.deepEqual(
    behind.projections.map(({ status }) => status),
    ['behind', 'ok'],
  );
});

test.serial('events of other streams are no lag', async (t) => {
  const service = await startService(t, postgres, { clock: () => new Date(Date.now() + 60_000) });
  await service.runProjections();
  await untilHealth(service, isOk);
  for (const run of service.runs) await run.stop();
  for (let n = 0; n < 20; n += 1) await append(service, `payment-${n}`, 'Paid', {});
  await sleep(1_100);
  t.is((await healthOf(service)).status, 'ok');
});

test.serial(
  'an event that cannot be read parks its stream; health says so without naming the stream',
  async (t) => {
    const service = await startService(t, postgres);
    await service.runProjections();
    await append(service, 'user-SECRET', 'UserCreated', { name: 'Secret' });
    const health = await untilHealth(service, ({ status }) => status === 'degraded');
    t.like(health.projections[0], {
      status: 'ok',
      fault: null,
      parked: 1,
    });
    t.like(health.projections[1], { status: 'ok', fault: null, parked: 0 });
    t.notRegex(JSON.stringify(health), /secret/i);
  },
);

test.serial('other reasons why a projection stopped are not disclosed', async (t) => {
  const fault = { message: 'connect ECONNREFUSED 10.0.0.7' };
  const never = { events: 0, position: null, lastEvent: null, updatedAt: new Date(), parked: [] };
  const status = { name: 'users', version: 1, ...never, fault };
  const service = await startService(t, postgres, {
    content: { projectionStatus: () => Promise.resolve([status]) },
  });
  const health = await untilHealth(service, ({ eventStore }) => eventStore === 'up');
  t.like(health.projections[0], { status: 'stopped', fault: 'It cannot continue' });
});

test.serial('both stores frozen: an answer all the same, and ok again afterwards', async (t) => {
  const eventStore = await startServerProcess(t);
  const service = await startService(t, postgres, {}, eventStore);
  await service.runProjections();
  await untilHealth(service, isOk);
  t.teardown(() => signalPostgres(postgres.dataDir, 'SIGCONT'));

  eventStore.signal('SIGSTOP');
  const noStore = await untilHealth(service, ({ eventStore }) => eventStore === 'down');
  t.like(noStore, { status: 'error', postgres: 'up' });
  t.true(noStore.projections.every(({ status, lagMs }) => status === 'unknown' && lagMs === null));

  await signalPostgres(postgres.dataDir, 'SIGSTOP');
  const nothing = await untilHealth(service, (health) => health.postgres === 'down');
  t.like(nothing, { status: 'error', eventStore: 'down' });
  for (let n = 0; n < 30; n += 1) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => healthOf(service)));
    t.true(answers.every(({ status }) => status === 'error'));
    await sleep(50);
  }

  eventStore.signal('SIGCONT');
  await signalPostgres(postgres.dataDir, 'SIGCONT');
  t.is((await untilHealth(service, isOk)).status, 'ok');
});

test.serial(
  'a slow look changes nothing; when no look has been answered for 5 s, health says so',
  async (t) => {
    let monotonicMs = 0;
    let slow = false;
    const hang = () => new Promise<never>(() => {});
    const db = connectPostgres({ url: postgres.url, log });
    t.teardown(() => db.destroy());
    const service = await startService(t, postgres, {
      monotonicMs: () => monotonicMs,
      content: { projectionStatus: () => (slow ? hang() : projectionStatus(db)) },
    });
    await service.runProjections();
    const look = () => {
      monotonicMs += 1_500;
      return healthOf(service);
    };
    await until(async () => isOk(await look()));
    slow = true;
    for (let n = 0; n < 3; n += 1) t.like(await look(), { status: 'ok', postgres: 'up' });
    const lost = await look();
    t.like(lost, { status: 'error', postgres: 'down' });
    t.true(lost.projections.every(({ status }) => status === 'unknown'));
    slow = false;
    t.is((await look()).status, 'ok');

    // A probe that asks every ten seconds.
    monotonicMs += 8_500;
    slow = true;
    t.like(await look(), { status: 'ok', postgres: 'up' }, 'slow once');
    monotonicMs += 8_500;
    t.like(await look(), { status: 'error', postgres: 'down' });
    slow = false;
    t.is((await look()).status, 'ok');
    monotonicMs += 60_000;
    slow = true;
    t.like(await look(), { status: 'error' }, 'an old look says nothing');
  },
);

test.serial(
  'the disk of the event store is full: 503 at once, the reason in the log and in health',
  async (t) => {
    // What its files may grow to stands for the disk.
    const store = await spawnStore(join(await temporaryFolder(t), 'events.db'), { blocks: 1_000 });
    t.teardown(() => store.stop('SIGKILL'));
    let monotonicMs = 0;
    const service = await startService(
      t,
      postgres,
      { monotonicMs: () => monotonicMs },
      { port: store.port, url: `esdb://127.0.0.1:${store.port}?tls=false` },
    );
    await service.runProjections();
    await until(async () => {
      monotonicMs += 1_500;
      return isOk(await healthOf(service));
    });
    for (const bytes of [300_000, 50_000]) {
      const fill = async () => {
        while (true) await append(service, `payment-${randomUUID()}`, 'Filler', 'x'.repeat(bytes));
      };
      await t.throwsAsync(fill, { instanceOf: EventStoreFull });
    }
    let refused: Response | undefined;
    for (let n = 0; refused?.status !== 503 && n < 100; n += 1)
      refused = await service.postUser({ ...aminah, email: `${n}@agency.example` });
    t.is(refused?.status, 503);
    t.regex(JSON.stringify(service.logged), /The disk of the event store is full/);
    monotonicMs += 1_500;
    t.like(await healthOf(service), { status: 'error', eventStore: 'disk full', postgres: 'up' });
    // It has appended nothing itself.
    const esdbUrl = `esdb://127.0.0.1:${store.port}?tls=false`;
    const settings = settingsFor({ esdbUrl, databaseUrl: postgres.url });
    const status = await runLedger(['status', '--json'], settings);
    t.like(JSON.parse(status.stdout), { status: 'error', eventStore: 'disk full', postgres: 'up' });
    t.is(status.code, 75);
    monotonicMs += 60_000;
    t.like(await healthOf(service), { status: 'ok', eventStore: 'up' });
  },
);

(isDiskSmall ? test.serial : test.serial.skip)(
  'the disk of PostgreSQL is full: health says so, and the projection goes on when there is room',
  async (t) => {
    const service = await startService(t, postgres);
    await service.runProjections();
    await untilHealth(service, isOk);
    await query(postgres.url, 'create table filler (text text)');
    // Given back at the end: on a full disk PostgreSQL cannot always open a session, not even one that makes room.
    const room = join(dataDir, 'postgres/data/base/room');
    writeFileSync(room, Buffer.alloc(4_000_000));
    const fill = async () => {
      while (true)
        await query(postgres.url, "insert into filler select repeat('x', 1000) from generate_series(1, 500)");
    };
    await t.throwsAsync(fill, { code: '53100' });
    for (let n = 0; n < 30; n += 1)
      await append(service, `user-${n}`, 'UserCreated', {
        at: new Date().toISOString(),
        ...aminah,
        id: `${n}`,
      });
    const full = await untilHealth(service, ({ postgres }) => postgres === 'disk full');
    t.is(full.status, 'error');
    t.like(full.projections[0], { status: 'stopped', fault: 'The disk of PostgreSQL is full' });
    rmSync(room);
    await query(postgres.url, 'drop table filler');
    t.is((await untilHealth(service, isOk)).postgres, 'up');
  },
);

test.serial('Postgres takes no writes, as a replica after a failover: health says so at once', async (t) => {
  const service = await startService(t, postgres);
  await service.runProjections();
  await untilHealth(service, isOk);
  const makeReadOnly = (value: 'on' | 'off') =>
    query(
      url,
      `begin read write; alter role current_user set default_transaction_read_only = ${value}; commit;
       select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()`,
    );
  t.teardown(() => makeReadOnly('off'));
  await makeReadOnly('on');
  const found = await untilHealth(service, ({ postgres }) => postgres === 'read only');
  t.is(found.status, 'error');
  await makeReadOnly('off');
  t.is((await untilHealth(service, isOk)).postgres, 'up');
});

test.serial(
  'Postgres has no connection free: health and `ledger status` say why they got none',
  async (t) => {
    const eventStore = await startServerProcess(t);
    const service = await startService(t, postgres, {}, eventStore);
    await service.runProjections();
    await untilHealth(service, isOk);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    t.teardown(() => client.end());
    const allow = (count: number) => client.query(`alter database ledger connection limit ${count}`);
    t.teardown(() => allow(-1));
    await allow(0);
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()',
    );
    const found = await untilHealth(service, ({ postgres }) => postgres !== 'up');
    t.like(found, { status: 'error', postgres: 'too many connections' });
    const settings = settingsFor({ esdbUrl: eventStore.url, databaseUrl: url });
    const { code, stdout } = await runLedger(['status'], settings);
    t.is(code, 75);
    t.regex(stdout, /^PostgreSQL {3}too many connections$/m);
    await allow(-1);
    t.is((await untilHealth(service, isOk)).postgres, 'up');
  },
);

test.serial(
  'a full disk may keep Postgres from opening a session: health says so all the same',
  async (t) => {
    const answer = 'could not write init file: No space left on device';
    const full = Object.assign(new pg.DatabaseError(answer, 0, 'error'), { code: '53100' });
    const service = await startService(t, postgres, {
      content: { projectionStatus: () => Promise.reject(full) },
    });
    t.like(await service.look(), { status: 'error', postgres: 'disk full' });
  },
);

test.serial('both stores gone: still an answer', async (t) => {
  const eventStore = await startServerProcess(t);
  const content = { projectionStatus: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7')) };
  const service = await startService(t, postgres, { content }, eventStore);
  await eventStore.end('SIGKILL');
  const health = await untilHealth(service, ({ eventStore }) => eventStore === 'down');
  t.like(health, { status: 'error', postgres: 'down' });
  t.false(JSON.stringify(health).includes('10.0.0.7'));
  t.true(service.logged.some((line) => JSON.stringify(line).includes('ECONNREFUSED')));
});

test.serial('Postgres goes away between two questions: still an answer', async (t) => {
  const content = { sealingRefused: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7')) };
  const service = await startService(t, postgres, { content });
  t.like(await service.look(), { status: 'error', postgres: 'down' });
});

test.serial('however many callers ask, the stores are asked once', async (t) => {
  let looks = 0;
  const service = await startService(t, postgres, {
    monotonicMs: () => 0,
    content: {
      projectionStatus: () => {
        looks += 1;
        return Promise.resolve([]);
      },
    },
  });
  const answers = await Promise.all(Array.from({ length: 200 }, () => service.api('/health')));
  t.true(answers.every(({ status }) => status === 200));
  t.is(looks, 1);
});
