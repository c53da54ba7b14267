// /api/v1/health: what it says about stores and projections, at once even while a store hangs.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Health } from '../../../src/http/api/bodies.ts';
import { connectPostgres } from '../../../src/postgres/pool.ts';
import { projectionStatus } from '../../../src/projections/runtime/checkpoints.ts';
import { postgresPids, until } from '../../embedded/helpers.ts';
import { log } from '../../projections/helpers.ts';
import { startServerProcess } from '../../support/event-store.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import { aminah, type Service, startService } from './helpers.ts';

const postgres = await startOwnPostgres();

/** The limit allows for a busy machine: if health waited for a frozen store, it would wait for minutes. */
async function healthOf(service: Service): Promise<Health> {
  const response = await service.api('/health', { signal: AbortSignal.timeout(20_000) });
  if (response.status !== 200) throw new Error(`health answered ${response.status}`);
  return (await response.json()) as Health;
}

/** Looks until health is as expected; every look on the way is answered. */
const untilHealth = (service: Service, is: (health: Health) => boolean) =>
  until(async () => {
    const health = await healthOf(service);
    if (is(health)) return health;
    await sleep(100);
    return false;
  });

const isOk = ({ status }: Health) => status === 'ok';
const append = (service: Service, stream: string, type: string, data: unknown) =>
  service.eventStore.append(
    stream,
    [{ id: randomUUID(), type, data, metadata: { schemaVersion: 1 } }],
    'no_stream',
  );

/** The postmaster and all its children. */
async function signalPostgres(t: ExecutionContext, name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const { postmaster } = await postgresPids(postgres.dataDir);
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' });
  for (const pid of [postmaster, ...children.trim().split(/\s+/).map(Number)]) {
    try {
      process.kill(pid, name);
    } catch {
      t.log(`${pid} has ended`);
    }
  }
}

test.serial('all is well', async (t) => {
  const service = await startService(t, postgres);
  await service.runProjections();
  const { timestamp, ...health } = await untilHealth(service, isOk);
  t.deepEqual(health, {
    status: 'ok',
    version: '1.2.3',
    runtime: `Node.js ${process.version} on ${process.platform} ${process.arch}`,
    eventStore: 'up',
    postgres: 'up',
    projections: ['users', 'projects'].map((name) => ({ name, status: 'ok', lagMs: 0, fault: null })),
  });
  t.regex(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/);
  t.true(Math.abs(Date.parse(timestamp) - Date.now()) < 5_000);
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
  'an event that cannot be read stops its projection; health says so without naming the stream',
  async (t) => {
    const service = await startService(t, postgres);
    await service.runProjections();
    await append(service, 'user-SECRET', 'UserCreated', { name: 'Secret' });
    const health = await untilHealth(service, ({ status }) => status === 'degraded');
    t.like(health.projections[0], {
      status: 'stopped',
      fault: 'It cannot take an event of type UserCreated',
    });
    t.like(health.projections[1], { status: 'ok', fault: null });
    t.notRegex(JSON.stringify(health), /secret/i);
  },
);

test.serial('other reasons why a projection stopped are not disclosed', async (t) => {
  const fault = { message: 'connect ECONNREFUSED 10.0.0.7', event: null };
  const never = { events: 0, position: null, lastEvent: null, updatedAt: new Date() };
  const status = { name: 'users', version: 1, ...never, fault };
  const service = await startService(t, postgres, {
    content: { projectionStatus: () => Promise.resolve([status]) },
  });
  const health = await untilHealth(service, ({ eventStore }) => eventStore === 'up');
  t.like(health.projections[0], { status: 'stopped', fault: 'It cannot go on' });
});

test.serial('both stores frozen: an answer all the same, and ok again afterwards', async (t) => {
  const eventStore = await startServerProcess(t);
  const service = await startService(t, postgres, {}, eventStore);
  await service.runProjections();
  await untilHealth(service, isOk);
  t.teardown(() => signalPostgres(t, 'SIGCONT'));

  eventStore.signal('SIGSTOP');
  const noStore = await untilHealth(service, ({ eventStore }) => eventStore === 'down');
  t.like(noStore, { status: 'error', postgres: 'up' });
  t.true(noStore.projections.every(({ status, lagMs }) => status === 'unknown' && lagMs === null));

  await signalPostgres(t, 'SIGSTOP');
  const nothing = await untilHealth(service, (health) => health.postgres === 'down');
  t.like(nothing, { status: 'error', eventStore: 'down' });
  for (let n = 0; n < 30; n += 1) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => healthOf(service)));
    t.true(answers.every(({ status }) => status === 'error'));
    await sleep(50);
  }

  eventStore.signal('SIGCONT');
  await signalPostgres(t, 'SIGCONT');
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

test.serial('however many callers ask, the stores are asked once', async (t) => {
  let looks = 0;
  const service = await startService(t, postgres, {
    content: {
      projectionStatus: () => {
        looks += 1;
        return Promise.resolve([]);
      },
    },
  });
  const answers = await Promise.all(Array.from({ length: 200 }, () => service.api('/health')));
  t.true(answers.every(({ status }) => status === 200));
  t.true(looks <= 2, `${looks} looks`);
});
