/** `ledger http`: the HTTP role. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { createHeadCache } from '@ledger/event-store/head-cache.ts';
import { createDrain, namingHost } from '@ledger/kernel/http-server.ts';
import { createMailer } from '@ledger/outbound/mailer.ts';
import { createOutbound } from '@ledger/outbound/post.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import { createListQueries } from '@ledger/projections/runtime/list-projection.ts';
import { reportForgedRow } from '../audit/background-check/forged-rows.ts';
import { createTransactionRegistry } from '../clients/transaction-registry/registry.ts';
import { createCredentials } from '../commands/credentials.ts';
import { createExecute } from '../commands/execute.ts';
import { assertKeys } from '../commands/key-fingerprint.ts';
import { paymentDecider } from '../commands/payment.ts';
import { createRecordAnswer } from '../commands/record-answer.ts';
import { paymentStream } from '../events/payment.ts';
import type { Project } from '../events/project.ts';
import type { Account } from '../events/user.ts';
import { createApp } from '../http/app.ts';
import { createLimitedServer } from '../http/server/connection-limits.ts';
import { answersFrom } from '../monitoring/health.ts';
import { erasedKeysList } from '../personal-data/erased-keys.ts';
import { allProjections } from '../projections/all.ts';
import { createPaymentQueries } from '../projections/payments/queries.ts';
import { projects } from '../projections/projects/projection.ts';
import { users } from '../projections/users/projection.ts';
import { deliveryList } from '../to-do/delivery-list.ts';
import { requeryList } from '../to-do/requery-list.ts';
import { createAnswerCounts } from '../to-do/requery-queue.ts';
import { createEraser } from './eraser.ts';
import { endProcess, type Running } from './lifecycle.ts';
import { version } from './monitoring.ts';
import { pdfThreads } from './pdf-threads.ts';
import { roleCommand } from './role-command.ts';
import type { RoleDependencies } from './stores.ts';

/** How long requests that have begun may still take when the process is asked to stop. */
const drainMs = 10_000;
/** How long a proxy of ours takes, at most, to notice that this process ends. */
const noticedWithinMs = 5_000;

/**
 * How long the start waits for its stores: for the first data keys, PostgreSQL's time and the comparison of keys. What is
 * missing then leads to 503 for payments and results until it is there; everything else works.
 */
const startWithinMs = 3_000;

/** How many states are kept, of the payments that were changed last; a state takes about 2 KB. */
const rememberedPayments = 5_000;

/** How long the start waits, while PostgreSQL answers, until the lists of /api/v1 hold what is in the log. */
const listsWithinMs = 10_000;

/** Starts the HTTP role; resolves when it listens. */
export async function startHttp(role: RoleDependencies): Promise<Running & { port: number }> {
  const { clock, config, log, personalData, runtime } = role;
  const heads = createHeadCache(runtime);
  const closing = new AbortController();
  const checked = assertKeys(config, { ...role, signal: closing.signal });
  const eventStore = heads.watch(appendOnceChecked(role.eventStore, checked));
  await Promise.race([
    Promise.all([checked, clock.start(), personalData.start()]),
    runtime.sleep(startWithinMs),
  ]).catch((error) => {
    closing.abort(); // otherwise the comparison of keys would go on, and the process would not end
    throw error;
  });
  // If the event store was away, a wrong key is found out only later: then the process ends.
  checked.catch(endProcess(runtime));
  const db = connectPostgres({ url: config.databaseUrl, log });
  if (clock.differenceMs() !== null) {
    const signal = runtime.timeout(listsWithinMs);
    const sources = { eventStore, db, runtime, signal };
    await Promise.all([users, projects].map((list) => untilCaughtUp(list, sources)));
  }
  const execute = createExecute({
    eventStore,
    decider: paymentDecider,
    seal: personalData.seal,
    remembered: rememberedPayments,
  });
  const app = await createApp({
    documents: pdfThreads(log),
    ...role,
    credentials: createCredentials({ ...config, eventStore, openSealed: personalData.open, runtime }),
    execute,
    recordAnswer: createRecordAnswer({ counts: createAnswerCounts(db), execute }),
    eventStore,
    heads,
    ...createPaymentQueries(db, personalData, (id) => reportForgedRow(paymentStream(id), { db, log })),
    postTest: createOutbound({ ...config.callbacks, httpsOnly: config.production, runtime }),
    fetchOwn: fetch,
    registry: createTransactionRegistry({ config: config.registry, log, runtime }),
    users: createListQueries<Account>(db, users.name),
    projects: createListQueries<Project>(db, projects.name),
    projections: [...allProjections, erasedKeysList, deliveryList, requeryList],
    ...answersFrom(db),
    clockDifferenceMs: clock.differenceMs,
    version,
    db,
    closing: closing.signal,
    erase: createEraser(role, db).erase,
    mailer: createMailer({ mail: config.mail, outboxDir: join(config.dataDir, 'outbox'), runtime }),
  });
  const { drain, listener } = createDrain(app.callback(), runtime);
  const server = createLimitedServer(listener);
  server.listen(config.port, config.host);
  await once(server, 'listening').catch(async (error) => {
    // What waits for a store, and connections, would keep the process from ending.
    closing.abort();
    await db.destroy();
    throw namingHost(error, 'HOST');
  });
  const { port } = server.address() as AddressInfo;
  log.info({ address: `http://${config.host}:${port}` }, 'http listening');
  return {
    port,
    async stop() {
      closing.abort();
      await drain(server, drainMs, config.trustedProxies > 0 ? noticedWithinMs : 0);
      await db.destroy();
    },
  };
}

/** With another key than the other processes have, nothing may be recorded. */
function appendOnceChecked(eventStore: EventStore, checked: Promise<void>): EventStore {
  let isChecked = false;
  checked.then(
    () => {
      isChecked = true;
    },
    () => {}, // whoever awaits it hears of it
  );
  return {
    ...eventStore,
    async append(...args) {
      if (!isChecked) throw new EventStoreUnavailable('The keys have not been compared yet');
      return await eventStore.append(...args);
    },
  };
}

export const command = roleCommand('http', startHttp);
