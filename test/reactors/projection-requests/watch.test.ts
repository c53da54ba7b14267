/** Rebuilds that staff ask for: done, recorded, and taken up again by whoever comes next. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { RebuildInterrupted, rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { createExecuteRequest } from '../../../src/commands/projection-requests.ts';
import type { Metadata } from '../../../src/events/envelope.ts';
import {
  type ProjectionRequests,
  projectionRequestFold,
  projectionStream,
} from '../../../src/events/projection-requests.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import {
  describeRebuildFailure,
  openRequest,
  rebuildAsRequested,
} from '../../../src/reactors/projection-requests/perform.ts';
import { startRequests } from '../../../src/reactors/projection-requests/watch.ts';
import { until } from '../../embedded/helpers.ts';
import {
  append,
  log,
  methodChosen,
  paymentRequested,
  reached,
  run,
  type Stores,
  startStores,
} from '../../projections/helpers.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';

const postgres = await createDatabase();

async function start(t: ExecutionContext): Promise<Stores> {
  const stores = await startStores(t, postgres);
  run(t, payments, stores.store, stores.database);
  const last = await append(stores.store.eventStore, 'A', [paymentRequested(), methodChosen()]);
  await reached(stores.database.db, 'payments', last);
  return stores;
}

function startRole(
  t: ExecutionContext,
  { database: { url, db }, store: { eventStore } }: Stores,
  projection: Projection = payments,
  changes: Partial<Parameters<typeof startRequests>[0]> = {},
): { stop(): Promise<void> } {
  const stores = { db, eventStore, log, personalData, runtime: testRuntime() };
  const role = startRequests({
    ...stores,
    projections: [projection],
    rebuild: (_, signal) => rebuildAsRequested({ ...stores, projection, databaseUrl: url, signal }),
    ...changes,
  });
  t.teardown(role.stop);
  return role;
}

async function request({ store: { eventStore } }: Stores) {
  const commandId = randomUUID();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:aminah' };
  const at = '2026-11-20T01:00:00.000Z';
  return await createExecuteRequest(eventStore)(
    'payments',
    { type: 'ProjectionRebuildRequested', data: { at, projection: 'payments' } },
    cause,
  );
}

async function requestRetry({ store: { eventStore } }: Stores, stream: string) {
  const commandId = randomUUID();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:aminah' };
  const at = '2026-11-20T01:00:00.000Z';
  const command = { type: 'ParkedStreamRetryRequested', data: { at, stream } } as const;
  await createExecuteRequest(eventStore)('payments', command, cause);
}

const eventsOf = ({ store: { eventStore } }: Stores) => eventStore.load(projectionStream('payments'));
const stateOf = async (parts: Stores): Promise<ProjectionRequests> =>
  (await eventsOf(parts))
    .map(projectionRequestFold.read)
    .reduce(projectionRequestFold.evolve, projectionRequestFold.initial);
const ended = (parts: Stores) =>
  until(async () => {
    const { requestedAt, last } = await stateOf(parts);
    return requestedAt === null && last;
  });

test.serial('a requested rebuild is done once and recorded as caused by the request', async (t) => {
  const parts = await start(t);
  const told: string[] = [];
  startRole(t, parts, payments, { onRebuilt: ({ name }) => told.push(name) });
  await parts.database.db.raw('delete from payments.payments');
  await request(parts);
  await request(parts);
  const last = await ended(parts);
  t.like(last, { outcome: 'rebuilt', events: 2 });
  t.is(await openRequest(parts.store.eventStore, 'payments'), null);
  const events = await eventsOf(parts);
  t.deepEqual(
    events.map(({ type, metadata }) => [type, (metadata as Metadata).actor]),
    [
      ['ProjectionRebuildRequested', 'staff:aminah'],
      ['ProjectionRebuilt', 'reactor:rebuilds'],
    ],
  );
  const end = events[1]?.metadata as Metadata | undefined;
  t.true(end !== undefined && end.$causationId === events[0]?.id);
  t.is((await parts.database.db('payments.payments')).length, 1);
  await until(() => told.length > 0);
  await request(parts);
  t.like(await until(async () => (await eventsOf(parts)).length === 4 && stateOf(parts)), {
    requestedAt: null,
  });
});

test.serial('a role that stops during a rebuild leaves the request to the next', async (t) => {
  const parts = await start(t);
  const begun = Promise.withResolvers<void>();
  // As the process in which the rebuild is done, which a signal ends.
  const first = startRole(t, parts, payments, {
    async rebuild(_, signal) {
      begun.resolve();
      await once(signal, 'abort');
      throw new RebuildInterrupted('The process of the rebuild ended with SIGTERM');
    },
  });
  await request(parts);
  await begun.promise;
  await first.stop();
  t.is((await stateOf(parts)).requestedAt, '2026-11-20T01:00:00.000Z', 'still open');
  startRole(t, parts);
  t.like(await ended(parts), { outcome: 'rebuilt', events: 2 });
});

/** The request is open, and the process that performs it is killed once the new tables serve. */
async function killedAfterCutover(parts: Stores, projection: Projection): Promise<void> {
  const killed = new AbortController();
  const rebuilding = rebuild({
    projection,
    eventStore: parts.store.eventStore,
    db: parts.database.db,
    databaseUrl: parts.database.url,
    personalData,
    log,
    runtime: testRuntime(),
    signal: killed.signal,
    onProgress: () => undefined,
    onBegin: async () => (await openRequest(parts.store.eventStore, projection.name))?.id ?? '',
    async onSwapped() {
      killed.abort();
      throw new Error('killed');
    },
  });
  await rebuilding.catch(() => {});
}

const fails = { ...payments, project: () => Promise.reject(new Error('made again')) } satisfies Projection;

test.serial('what was killed right after its cutover is recorded as done, and not done again', async (t) => {
  const parts = await start(t);
  await request(parts);
  await killedAfterCutover(parts, payments);
  t.truthy((await stateOf(parts)).requestedAt, 'still open');
  // Of a release that does not know the new tables, as while one is deployed.
  const role = startRole(t, parts, { ...fails, version: payments.version - 1 });
  t.like(await ended(parts), { outcome: 'rebuilt', events: 2 });
  await role.stop();
  // The next request is another one.
  await request(parts);
  startRole(t, parts, fails);
  await until(async () => (await stateOf(parts)).last?.outcome === 'failed');
});

test.serial('two roles do it once', async (t) => {
  const parts = await start(t);
  startRole(t, parts);
  startRole(t, parts);
  await request(parts);
  await ended(parts);
  t.deepEqual(
    (await eventsOf(parts)).map(({ type }) => type),
    ['ProjectionRebuildRequested', 'ProjectionRebuilt'],
  );
});

test.serial('a rebuild whose process ends at once is not begun again every second', async (t) => {
  const parts = await start(t);
  await request(parts);
  const sleeps: number[] = [];
  const role = startRole(t, parts, payments, {
    rebuild: async () => {
      sleeps.push(0);
      throw new RebuildInterrupted('The process of the rebuild ended with exit code 78');
    },
    runtime: testRuntime({
      sleep: (ms, signal) => {
        sleeps.push(ms);
        return systemRuntime.sleep(ms / 1_000, signal);
      },
    }),
  });
  const begun = () => sleeps.filter((ms) => ms === 0).length;
  await until(() => begun() > 2);
  await role.stop();
  t.true(sleeps.filter((ms) => ms === 10_000).length >= begun() - 1, JSON.stringify(sleeps));
});

test.serial('a failed rebuild says why, and can be requested again', async (t) => {
  const parts = await start(t);
  const secret = 'Aminah binti Yusof';
  const failing = { ...payments, project: async () => void JSON.parse(secret) } satisfies Projection;
  const role = startRole(t, parts, failing);
  await request(parts);
  const last = await ended(parts);
  if (last?.outcome !== 'failed') return t.fail('it did not fail');
  const { reason } = last;
  t.regex(reason, /would lack rows, for they park payment-A at revision 0 \(SyntaxError .*\)$/);
  t.false(reason.includes('Aminah'));
  await role.stop();
  startRole(t, parts);
  await request(parts);
  await until(async () => (await stateOf(parts)).last?.outcome === 'rebuilt');
  t.pass();
});

/** The projection leaves the stream out since an event that it does not know. */
async function startParked(t: ExecutionContext) {
  const parts = await start(t);
  const last = await append(parts.eventStore, 'B', [{ type: 'PaymentForgiven', data: {} } as never]);
  await reached(parts.db, 'payments', last);
  return { parts, stream: 'payment-B' };
}

test.serial('a role that is killed while it tries a stream again leaves that to the next', async (t) => {
  const { parts, stream } = await startParked(t);
  const { db, eventStore } = parts;
  await requestRetry(parts, stream);
  await requestRetry(parts, stream);
  // Nothing that this one does takes effect, as if it was killed.
  const lost = { ...eventStore, append: () => new Promise<never>(() => {}) };
  const tried = Promise.withResolvers<void>();
  const observed: Projection = {
    ...payments,
    async project(...args) {
      tried.resolve();
      await payments.project(...args);
    },
  };
  const stores = { db, log, personalData, runtime: testRuntime() };
  const killed = startRequests({ ...stores, projections: [observed], eventStore: lost });
  t.teardown(() => void killed.stop());
  await tried.promise;
  t.deepEqual((await stateOf(parts)).retries, [stream], 'still open');

  // Both do it, and it is recorded once. A rebuild that is requested meanwhile is another matter.
  await request(parts);
  for (const _ of [1, 2]) t.teardown(startRequests({ ...stores, projections: [payments], eventStore }).stop);
  await until(async () => (await stateOf(parts)).retries.length === 0);
  const events = await eventsOf(parts);
  t.deepEqual(
    events.map(({ type, data }) => [type, Reflect.get(Object(data), 'reason')]),
    [
      ['ParkedStreamRetryRequested', undefined],
      ['ProjectionRebuildRequested', undefined],
      ['ParkedStreamRetried', 'Unknown event type PaymentForgiven'],
    ],
  );
  t.is(Reflect.get(Object(events[2]?.metadata), '$causationId'), events[0]?.id);
  t.is((await openRequest(eventStore, 'payments'))?.id, events[1]?.id);
});

test.serial(
  'a stream is tried again while a rebuild runs, which the role waits for when it stops',
  async (t) => {
    const { parts, stream } = await startParked(t);
    const begun = Promise.withResolvers<void>();
    let times = 0;
    let isOver = false;
    const role = startRole(t, parts, payments, {
      async rebuild(_, signal) {
        times += 1;
        begun.resolve();
        await once(signal, 'abort');
        isOver = true;
        throw new RebuildInterrupted('The process of the rebuild ended with SIGTERM');
      },
    });
    await request(parts);
    await begun.promise;
    await requestRetry(parts, stream);
    await until(async () => (await stateOf(parts)).retries.length === 0);
    t.false(isOver);
    await role.stop();
    t.deepEqual({ isOver, times }, { isOver: true, times: 1 });
  },
);

test.serial('a stream that is to be tried again while Postgres is away waits for it', async (t) => {
  const { parts, stream } = await startParked(t);
  const { db, eventStore } = parts;
  await requestRetry(parts, stream);
  let isAway = true;
  let refused = 0;
  const away = () => {
    refused += 1;
    return Promise.reject(new Error('Connection terminated unexpectedly'));
  };
  const flaky = new Proxy(db, {
    get: (target, name) => (isAway && name === 'transaction' ? away : Reflect.get(target, name)),
  });
  const stores = { db: flaky, eventStore, log, personalData, runtime: testRuntime() };
  t.teardown(startRequests({ ...stores, projections: [payments] }).stop);
  await until(() => refused >= 2);
  t.deepEqual((await stateOf(parts)).retries, [stream], 'still open');
  isAway = false;
  await until(async () => (await stateOf(parts)).retries.length === 0);
  const ends = (await eventsOf(parts)).filter(({ type }) => type === 'ParkedStreamRetried');
  t.deepEqual(
    ends.map(({ data }) => Reflect.get(Object(data), 'reason')),
    ['Unknown event type PaymentForgiven'],
  );
});

test.serial('it waits for keys that are away with Postgres, not for a key that is unknown', async (t) => {
  const parts = await start(t);
  const { database, store } = parts;
  const { eventStore } = store;
  const last = await append(eventStore, 'B', [{ type: 'PaymentForgiven', data: {} } as never]);
  await reached(database.db, 'payments', last);
  const stream = 'payment-B';
  await requestRetry(parts, stream);
  const faults = [
    new Error('Connection terminated unexpectedly'),
    new Error('neither DATA_KEY nor in DATA_KEY_PREVIOUS'),
  ];
  let tried = 0;
  const keyless: Projection = {
    ...payments,
    async project() {
      const cause = faults[Math.min(tried, faults.length - 1)];
      tried += 1;
      throw new KeysUnavailable('The keys cannot be read', { cause });
    },
  };
  const stores = { db: database.db, eventStore, log, personalData, runtime: testRuntime() };
  t.teardown(startRequests({ ...stores, projections: [keyless] }).stop);
  await until(async () => (await stateOf(parts)).retries.length === 0);
  t.is(tried, 2);
});

test.serial(
  'a request that no event announces, as in a log restored from an older copy, is found by itself',
  async (t) => {
    const parts = await start(t);
    const { eventStore } = parts.store;
    /** The subscription never has anything. */
    const silent: typeof eventStore = {
      ...eventStore,
      subscribe: (options) => eventStore.subscribe({ ...options, eventTypes: ['None'] }),
    };
    const waits: PromiseWithResolvers<void>[] = [];
    const runtime = testRuntime({
      sleep: (ms, signal) => {
        if (ms !== 60_000) return systemRuntime.sleep(ms, signal);
        const wait = Promise.withResolvers<void>();
        signal?.addEventListener('abort', () => wait.resolve());
        waits.push(wait);
        return wait.promise;
      },
    });
    startRole(t, { ...parts, store: { ...parts.store, eventStore: silent } }, payments, { runtime });
    // Once at its start, and once it follows the log.
    await until(() => waits.length === 2);
    await request(parts);
    waits[1]?.resolve();
    await until(async () => (await stateOf(parts)).last?.outcome === 'rebuilt');
    t.pass();
  },
);

test.serial('while the event store is away, no request is said to wait: nobody knows of one', async (t) => {
  const parts = await startStores(t, postgres);
  let looks = 0;
  const load = async () => {
    looks += 1;
    throw new EventStoreUnavailable('Cannot read stream projection-payments');
  };
  const lines: string[] = [];
  const role = startRole(t, parts, payments, {
    eventStore: { ...parts.eventStore, load },
    log: pino({}, { write: (line) => void lines.push(line) }),
    runtime: testRuntime({ sleep: (_, signal) => systemRuntime.sleep(1, signal) }),
  });
  t.teardown(role.stop);
  await until(() => looks > 2);
  t.deepEqual(lines, []);
});

test('that PostgreSQL was away is said in words', async (t) => {
  const db = connectPostgres({ url: 'postgres://127.0.0.1:9/nothing', log: pino({ level: 'silent' }) });
  t.teardown(() => db.destroy());
  t.is(describeRebuildFailure(await t.throwsAsync(db.raw('select 1'))), 'PostgreSQL does not answer');
});
