/** What a role is started with: the stores of the configuration, and whether they can serve. */
import { join } from 'node:path';
import { isServed } from '@ledger/embedded/data-folder.ts';
import { readEndpoints } from '@ledger/embedded/endpoints.ts';
import { StoreAway } from '@ledger/embedded/start-error.ts';
import { connectEventStore } from '@ledger/event-store/client.ts';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { type Refusal, refusal } from '@ledger/event-store/requirements.ts';
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { createKeyReserve } from '@ledger/personal-data/key-reserve.ts';
import { wrappingKeys } from '@ledger/personal-data/key-store.ts';
import { createPersonalData, type PersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { connectPostgres, cutIfFrozen } from '@ledger/postgres/pool.ts';
import { unsuitability } from '@ledger/postgres/requirements.ts';
import { createSharedClock, type SharedClock } from '@ledger/postgres/shared-clock.ts';
import type { Knex } from 'knex';
import { type Config, loadConfig, type Needs } from '../config/config.ts';
import { readEnvironment } from '../config/environment-reader.ts';
import type { DeliveryKind } from '../events/deliveries.ts';
import { paymentStreamPrefix } from '../events/payment.ts';
import type { AnsweredRequest, AttemptOutcome } from '../monitoring/counters.ts';
import { madeWithKeys } from '../projections/payments/payers.ts';
import type { Documents } from '../statements/document.ts';
import type { Running } from './lifecycle.ts';

export type Store = 'eventStore' | 'postgres';

/** What a role is started with. Roles in a process share the event store, and the keys of personal data kept ahead. */
export type RoleDependencies = {
  config: Config;
  eventStore: EventStore;
  personalData: PersonalData;
  log: Log;
  /** Its time of day is `clock`'s. */
  runtime: Runtime;
  clock: SharedClock;
  /** In a thread of its own, unless something else is given. */
  documents?: Documents;
  /** Told of each request that was answered. */
  countRequest?: (answered: AnsweredRequest) => void;
  /** Told of each attempt at a delivery. */
  countAttempt?: (kind: DeliveryKind, outcome: AttemptOutcome) => void;
};

/** `db` is for those that need no pool of their own. */
export type OpenStores<Needed = Config> = Omit<RoleDependencies, 'config'> &
  Running & { config: Needed; db: Knex; databaseUrl: string };

/** The stores of the configuration, which other parts of a process share. Nothing is connected until it is used. */
export function openStores<
  Needed extends Pick<Config, 'databaseUrl' | 'dataKeys' | 'esdbUrl'> & Partial<Pick<Config, 'dataDir'>>,
>(
  config: Needed,
  log: Log,
  ownRuntime: Runtime = systemRuntime,
  longestQuery: { longestQueryMs?: number } = {},
): OpenStores<Needed> {
  const { databaseUrl, dataDir, dataKeys, esdbUrl } = config;
  const db = connectPostgres({ url: databaseUrl, log, ...longestQuery });
  const clock = createSharedClock({ db, runtime: ownRuntime, log });
  const { runtime } = clock;
  const eventStore = connectEventStore({ url: esdbUrl, log, runtime });
  const wrapping = wrappingKeys(dataKeys.current, dataKeys.previous);
  const personalData = createPersonalData({
    store: createPostgresKeyStore({ db, madeWithKeys, wrapping, runtime }),
    ...(dataDir !== undefined && {
      reserve: createKeyReserve({ folder: join(dataDir, 'unused-keys'), wrapping, runtime }),
    }),
    listen: (onNotification) =>
      listenForNotifications({ databaseUrl, channel: destroyedChannel, onNotification, log, runtime }),
    isNew: ({ type }) => type === 'PaymentRequested',
    log,
    runtime,
  });
  return {
    config,
    databaseUrl,
    db,
    eventStore,
    personalData,
    log,
    runtime,
    clock,
    async stop() {
      await Promise.all([personalData.stop(), clock.stop()]);
      await Promise.all([db.destroy(), eventStore.close()]);
    },
  };
}

/** The part that stops first: what a process still does has 5 s, and then waits no longer for a frozen PostgreSQL. */
export const firstToStop = (
  monitoring: { enter(state: 'stopping'): void },
  databaseUrl: string,
): Running => ({
  async stop() {
    monitoring.enter('stopping');
    systemRuntime.setTimer(5_000, () => void cutIfFrozen(databaseUrl));
  },
});

/**
 * The configuration of a command that runs alongside `ledger serve` and uses its embedded stores where no URL is set.
 * In production nothing is read from a data folder. Throws ConfigError and StoreAway.
 */
export function loadRoleConfig(needs?: Needs): Config {
  const env = readEnvironment(process.env, {}, new Set(['ESDB_URL', 'DATABASE_URL', 'DATA_DIR', 'NODE_ENV']));
  if (env.production) return loadConfig(process.env, {}, needs);
  const dataDir = env.text('DATA_DIR');
  if (!(env.given('ESDB_URL') && env.given('DATABASE_URL')) && !isServed(dataDir))
    throw new StoreAway(
      `No ledger runs in ${dataDir}: run npm start, or set DATA_DIR to its folder, or ESDB_URL and DATABASE_URL.`,
    );
  return loadConfig(process.env, readEndpoints(dataDir), needs);
}

const rights = '`ledger eventstore acl` prints the rights that it needs';
const refusals: Record<Refusal, string | null> = {
  credentials: 'ESDB_URL: the event store does not accept the user or the password',
  read: `ESDB_URL: the user may not read $all; ${rights}`,
  append: `ESDB_URL: the user may not append to the streams of the ledger; ${rights}`,
  room: null, // it accepts appends again by itself
};

/** The stream for which the event store is asked whether we may append. */
export const askedOfStream = `${paymentStreamPrefix}write-access`;

/**
 * Throws ConfigError if a store cannot serve or refuses us; whether we may append is asked only for a process that
 * does. Returns the stores that do not answer: a role waits for them; if a command `needs` one, it throws StoreAway.
 */
export async function assertStores({
  databaseUrl,
  esdbUrl,
  appends = true,
  needs = [],
}: Pick<Config, 'databaseUrl' | 'esdbUrl'> & {
  appends?: boolean;
  needs?: readonly Store[];
}): Promise<Store[]> {
  const [eventStore, postgres] = await Promise.allSettled([
    refusal(esdbUrl, systemRuntime, appends ? askedOfStream : null),
    unsuitability(databaseUrl),
  ]);
  const refused = eventStore.status === 'fulfilled' && eventStore.value && refusals[eventStore.value];
  const faults = [
    ...(refused ? [refused] : []),
    ...(postgres.status === 'fulfilled' && postgres.value ? [`DATABASE_URL: ${postgres.value}`] : []),
  ];
  if (faults.length > 0) throw new ConfigError(faults);
  const asked = [
    ['eventStore', 'ESDB_URL', eventStore],
    ['postgres', 'DATABASE_URL', postgres],
  ] as const;
  const silent = asked.flatMap(([store, variable, answer]) =>
    answer.status === 'rejected' ? [{ store, fault: `${variable}: ${reasonOf(answer.reason)}.` }] : [],
  );
  const missed = silent.filter(({ store }) => needs.includes(store)).map(({ fault }) => fault);
  if (missed.length > 0) throw new StoreAway(missed.join('\n'));
  return silent.map(({ store }) => store);
}
