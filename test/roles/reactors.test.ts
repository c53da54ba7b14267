// A delivery begins when its event has been read. Here polling never looks for work, so that only a wake-up can begin one.
import { createSharedClock } from '@ledger/postgres/shared-clock.ts';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { startReactors } from '../../src/roles/reactors.ts';
import { createDeliveryList, deliveryList } from '../../src/to-do/delivery-list.ts';
import { dueChannel } from '../../src/to-do/delivery-rows.ts';
import { until } from '../embedded/helpers.ts';
import {
  append,
  type Database,
  emptyDatabase,
  type RunningStore,
  reached,
  run,
  log as silent,
  startStore,
} from '../projections/helpers.ts';
import { paymentEvents } from '../reactors/helpers.ts';
import { startReceiver } from '../reactors/receiver.ts';
import { settingsFor } from '../support/ledger.ts';
import { personalData } from '../support/personal-data.ts';
import { createDatabase } from '../support/postgres.ts';
import { testRuntime } from '../support/runtime.ts';

const postgres = await createDatabase();

const pollMs = 1_000;
/** Sleeps of a poll end only when somebody wakes the sleeper. */
const runtime = testRuntime({
  sleep: (ms, signal) =>
    ms === pollMs
      ? new Promise((resolve) => {
          if (signal?.aborted) resolve();
          signal?.addEventListener('abort', () => resolve(), { once: true });
        })
      : testRuntime().sleep(ms, signal),
});

/** The role on these stores, until the test is over. */
function startRole(
  t: ExecutionContext,
  store: RunningStore,
  database: Database,
  changes: Partial<Config> = {},
  log = silent,
): void {
  const settings = settingsFor({ esdbUrl: store.url, databaseUrl: database.url });
  const config = { ...loadConfig(settings, {}), ...changes };
  const clock = createSharedClock({ db: database.db, runtime, log });
  const role = startReactors({ clock, config, eventStore: store.eventStore, personalData, log, runtime });
  t.teardown(async () => {
    await role.stop();
    await clock.stop();
  });
}

/** The second delivery, for which the worker would otherwise wait a second. */
async function assertWoken(t: ExecutionContext, isStandingBy: boolean): Promise<void> {
  const store = await startStore(t);
  const database = await emptyDatabase(postgres);
  const receiver = await startReceiver(t);
  const projection = createDeliveryList({ eventStore: store.eventStore, announces: true });
  if (isStandingBy) run(t, projection, store, database);
  startRole(t, store, database);
  await append(store.eventStore, 'FIRST', paymentEvents('FIRST', receiver.url, 'succeeded'));
  await until(() => receiver.received.length === 1);
  await append(store.eventStore, 'SECOND', paymentEvents('SECOND', receiver.url, 'succeeded'));
  await until(() => receiver.received.length === 2);
  t.pass();
}

test.serial('the workers of the process that leads are woken', (t) => assertWoken(t, false));

test.serial('a process that stands by is woken by the one that leads', (t) => assertWoken(t, true));

test.serial(
  'a process of an earlier release, which puts its name before the kind, wakes it too',
  async (t) => {
    const store = await startStore(t);
    const database = await emptyDatabase(postgres);
    const receiver = await startReceiver(t);
    // It leads, and announces nothing itself.
    run(t, createDeliveryList({ eventStore: store.eventStore }), store, database);
    const pay = (id: string) => append(store.eventStore, id, paymentEvents(id, receiver.url, 'succeeded'));
    await reached(database.db, deliveryList.name, await pay('FIRST'));
    startRole(t, store, database);
    await until(() => receiver.received.length === 1);
    for (const [index, id] of ['SECOND', 'THIRD'].entries()) {
      await reached(database.db, deliveryList.name, await pay(id));
      await database.db.raw(`select pg_notify(?, 'another-process callback')`, [dueChannel]);
      await until(() => receiver.received.length === index + 2);
    }
    t.pass();
  },
);

test.serial(
  'only where there are agencies of the land registry, a start warns that their callbacks wait',
  async (t) => {
    const store = await startStore(t);
    const database = await emptyDatabase(postgres);
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const warnings = () =>
      lines.filter((line) => line.includes('callbacks to the land registry wait')).length;
    startRole(t, store, database, { landRegistry: null, merchants: new Map() }, log);
    t.is(warnings(), 0);
    startRole(t, store, database, { landRegistry: null }, log);
    t.is(warnings(), 1);
  },
);
