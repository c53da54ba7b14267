/** Real stores for the tests of projections: an event store and a Postgres that may be killed, and histories to put in. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { type EventStore, EventStoreUnavailable, type Position } from '@ledger/event-store/event-store.ts';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { type Followed, type Projection, selectionOf } from '@ledger/projections/runtime/projection.ts';
import { runProjection } from '@ledger/projections/runtime/run.ts';
import type { ExecutionContext } from 'ava';
import type { Knex } from 'knex';
import { pino } from 'pino';
import type { Sen } from '../../src/common/money.ts';
import { chain, genesisHash, hashIn } from '../../src/events/envelope.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  type PaymentRequested,
  paymentStream,
  readPaymentEvent,
} from '../../src/events/payment.ts';
import type { RequestDetails } from '../../src/events/personal-data.ts';
import { patienceMs, until } from '../embedded/helpers.ts';
import { startServer, startServerProcess } from '../support/event-store.ts';
import { electionOn } from '../support/leader-election.ts';
import { personalData } from '../support/personal-data.ts';
import { testRuntime } from '../support/runtime.ts';
import type { Owner } from '../support/whole-file.ts';

export const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

export type Postgres = { url: string };
export type Database = { url: string; db: Knex };

/** What the tests of a file connect with, by database: each new connection is a new process of PostgreSQL. */
const connected = new Map<string, { db: Knex; election: LeaderElection }>();

/** The database, through the connections that all tests of the file share. */
export async function connectOnce({ url }: Postgres): Promise<Database> {
  // Not imported above, because ava does not run in the child processes that import this module too.
  const { wholeFile } = await import('../support/whole-file.ts');
  const { db } = connected.get(url) ?? connect(wholeFile, url);
  return { url, db };
}

/** The same with nothing of an earlier test in it; for tests that run one after the other. */
export async function emptyDatabase(postgres: Postgres): Promise<Database> {
  const { db, url } = await connectOnce(postgres);
  await db.raw(
    `do $$ declare name text; begin
       for name in select nspname from pg_namespace where nspname !~ '^pg_|^public$|^information_schema$' loop
         execute format('drop schema %I cascade', name);
       end loop;
       drop table if exists checkpoints;
     end $$`,
  );
  return { url, db };
}

function connect(owner: Owner, url: string) {
  const made = { db: connectPostgres({ url, log }), election: electionOn(url) };
  connected.set(url, made);
  owner.teardown(async () => {
    connected.delete(url);
    await made.db.destroy();
  });
  return made;
}

export type RunningStore = { url: string; eventStore: EventStore };

/** How long an answer may take, where it is not what the program itself allows. */
type Deadlines = { callDeadlineMs?: number; giveUpAfterMs?: number };

/** An empty event store in this process, and a connection to it. */
export async function startStore(t: ExecutionContext, deadlines: Deadlines = {}): Promise<RunningStore> {
  const { url, close } = await startServer();
  t.teardown(close);
  return { url, eventStore: connectTo(t, url, deadlines) };
}

export type Stores = Awaited<ReturnType<typeof startStores>>;

/** Both, empty. */
export async function startStores(t: ExecutionContext, postgres: Postgres) {
  const [database, store] = await Promise.all([emptyDatabase(postgres), startStore(t)]);
  return { database, db: database.db, store, eventStore: store.eventStore };
}

/** With a database that no other test has: for tests that wait long, so that they can wait at the same time. */
export async function startStoresApart(t: ExecutionContext): Promise<Stores> {
  // As above.
  const { createDatabase } = await import('../support/postgres.ts');
  return await startStores(t, await createDatabase());
}

/** An event store in a process of its own; `kill` is kill -9, and a new one on the same port and file. */
export async function startStoreProcess(
  t: ExecutionContext,
): Promise<RunningStore & { kill(): Promise<void> }> {
  const { url, end, start } = await startServerProcess(t);
  return {
    url,
    eventStore: connectTo(t, url),
    async kill() {
      await end('SIGKILL');
      await start();
    },
  };
}

function connectTo(t: ExecutionContext, url: string, deadlines: Deadlines = {}): EventStore {
  const eventStore = connectEventStore({ url, log, runtime: testRuntime(), ...deadlines });
  t.teardown(() => eventStore.close());
  return eventStore;
}

/** As a newer program projects the events, which knows what those of this type mean. */
export const knowing = (
  projection: Projection,
  type: string,
  meaning: { type: string; data: unknown },
): Projection => ({
  ...projection,
  project: (events, ...rest) =>
    projection.project(
      events.map((event) => (event.type === type ? { ...event, ...meaning } : event)),
      ...rest,
    ),
});

/** Runs a projection in this process, until the test or its file is over at the latest. */
export function run(
  t: Owner,
  projection: Projection,
  { eventStore }: Pick<RunningStore, 'eventStore'>,
  { url, db }: Database,
  changes: Partial<Parameters<typeof runProjection>[0]> = {},
): Background {
  const started = runProjection({
    projection,
    eventStore,
    db,
    election: connected.get(url)?.election ?? electionOn(url),
    personalData,
    log,
    runtime: systemRuntime,
    ...changes,
  });
  t.teardown(() => started.stop());
  return started;
}

/** A process that runs projections, see runner-child.ts. */
export function startRunner(t: ExecutionContext, store: RunningStore, database: Database): ChildProcess {
  const script = fileURLToPath(new URL('./runner-child.ts', import.meta.url));
  const child = fork(script, [store.url, database.url], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.teardown(() => end(child));
  return child;
}

/** kill -9, and no sooner back than it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Appends a payment's next events as `execute` would, through any outage; returns the position of the last. */
export async function append(
  eventStore: EventStore,
  transactionId: string,
  events: readonly (PaymentEvent | { type: string; data: unknown })[],
  expected: number | 'no_stream' = 'no_stream',
): Promise<Position> {
  const cause = {
    commandId: randomUUID(),
    correlationId: randomUUID(),
    causationId: randomUUID(),
    actor: 'gateway',
  };
  const readBefore = async (revision: number) =>
    await until(() => eventStore.load(paymentStream(transactionId), revision, 1).catch(falseWhenUnavailable));
  const [before] = expected === 'no_stream' ? [] : await readBefore(expected);
  const sealed = chain(events, before ? hashIn(before) : genesisHash, cause);
  const { position } = await until(() =>
    eventStore.append(paymentStream(transactionId), sealed, expected).catch(falseWhenUnavailable),
  );
  return position;
}

function falseWhenUnavailable(error: unknown): false {
  if (error instanceof EventStoreUnavailable) return false;
  throw error;
}

/** Waits until a projection has come to a position. */
export async function reached(db: Knex, name: string, position: Position): Promise<void> {
  await until(async () => {
    const at = (await statusOf(db, name))?.position;
    return at !== null && at !== undefined && at.commit >= position.commit;
  });
}

/** Waits until projections have everything that the event store has for them. */
export async function caughtUp(
  projections: readonly Followed[],
  { eventStore }: Pick<RunningStore, 'eventStore'>,
  { db }: Pick<Database, 'db'>,
): Promise<void> {
  for (const projection of projections)
    await until(async () => {
      const status = await statusOf(db, projection.name);
      if (!status) return false;
      const signal = AbortSignal.timeout(patienceMs);
      return !(await eventStore.firstAfter({ ...selectionOf(projection), after: status.position, signal }));
    });
}

/** Also while Postgres is being restarted: then it is not known. */
export async function statusOf(db: Knex, name: string) {
  const all = await projectionStatus(db).catch(() => sleep(50).then(() => []));
  return all.find((status) => status.name === name);
}

/** What a payment's events come to, read and folded afresh. */
export async function foldAfresh(
  eventStore: EventStore,
  transactionId: string,
): Promise<{ revision: number; state: Payment; updatedAt: Date | undefined }> {
  const events = await eventStore.load(paymentStream(transactionId));
  return {
    revision: events.length - 1,
    state: events.map(readPaymentEvent).reduce(evolve, noPayment),
    updatedAt: events.at(-1)?.created,
  };
}

export const nobody = {
  name: '',
  email: '',
  icNo: '',
  address1: '',
  address2: '',
  city: '',
  postcode: '',
  state: '',
  phoneNo: '',
};

/** The first event of a payment. */
export function paymentRequested({
  payer = { ...nobody, name: 'Aminah' },
  extra = {},
  ...change
}: Partial<PaymentRequested & RequestDetails> = {}): PaymentEvent {
  const emailReceipt = payer.email !== '';
  const data = {
    at: '2026-11-20T01:02:03.000Z',
    transactionId: '',
    channel: 'generic' as const,
    merchant: { code: 'demo-app', id: 1, name: 'Demo' },
    reference: 'R-1',
    amountSen: 12_050 as Sen,
    service: '',
    description: '',
    items: [],
    personal: { plain: { payer, extra } },
    fingerprint: null,
    emailReceipt,
    callbackUrl: '',
    redirectUrl: '',
    branchCode: '',
  };
  return { type: 'PaymentRequested', data: { ...data, ...change } };
}

/** An attempt to pay; any number of them may follow. */
export function methodChosen(attempt = 1): PaymentEvent {
  const chargeSen = 0 as Sen;
  const at = '2026-11-20T01:03:00.000Z';
  return {
    type: 'PaymentMethodChosen',
    data: { at, attempt, mode: 'fpx', bankCode: 'B', chargeSen, sellerOrderNo: `S-${attempt}` },
  };
}
