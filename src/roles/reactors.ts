/** `ledger reactors`: the role that sends callbacks and receipts, and asks the registry about payments left open. */
import { join } from 'node:path';
import { createLandRegistry } from '../clients/land-registry/callback.ts';
import { createMailer, type Mailer } from '../clients/mail/mailer.ts';
import { createOutbound } from '../clients/outbound/post.ts';
import { createTransactionRegistry } from '../clients/transaction-registry/registry.ts';
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { createRecordAnswer } from '../commands/record-requery.ts';
import type { LandRegistryConfig } from '../config/callbacks-and-mail.ts';
import { type Account, maySignIn } from '../events/user.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { startRetention } from '../personal-data/retention.ts';
import { listenForNotifications } from '../postgres/notifications.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { projectionStatus } from '../projections/runtime/checkpoints.ts';
import { untilCaughtUp } from '../projections/runtime/lag.ts';
import { createListQueries } from '../projections/runtime/list-projection.ts';
import { runProjection } from '../projections/runtime/run.ts';
import { createSharedReader } from '../projections/runtime/shared-reader.ts';
import { users } from '../projections/users/projection.ts';
import { createLandRegistryCallback } from '../reactors/callbacks/land-registry-callback.ts';
import { createMerchantCallback } from '../reactors/callbacks/merchant-callback.ts';
import { startDeliveryWorker, type WorkerTask } from '../reactors/deliveries/worker.ts';
import { createReceiptEmail } from '../reactors/email/receipt-email.ts';
import { startScheduledRequery } from '../reactors/requery/scheduled-requery.ts';
import { startStaffEmail } from '../reactors/staff/staff-email.ts';
import { createToDoList, toDoList } from '../to-do/projection.ts';
import { createDeliveryQueue } from '../to-do/queue.ts';
import { requeries, requeryList } from '../to-do/requeries.ts';
import { createAnswerCounts, createRequeryQueue } from '../to-do/requery-queue.ts';
import { dueChannel } from '../to-do/table.ts';
import { createEraser } from './eraser.ts';
import type { RoleDependencies, Running } from './lifecycle.ts';
import { roleCommand } from './role-command.ts';

/** Of these, the admins are told what waits for staff, unless STAFF_ALERTS_TO names others. */
const mostUsers = 1_000;

/** Starts the to-do list, every reactor and what erases by itself; each waits for its stores. */
export function startReactors({
  clock,
  config,
  eventStore,
  log,
  personalData,
  runtime,
}: RoleDependencies): Running {
  const { databaseUrl } = config;
  void clock.start();
  // The answers of the registry are sealed.
  void personalData.start();
  const db = connectPostgres({ url: databaseUrl, log });
  const stopping = new AbortController();
  const announcer = runtime.uuid();
  const { projection, takeDue } = createToDoList({ eventStore, announcer });
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const common = {
    ready: untilCaughtUp(projection, {
      eventStore,
      projectionStatus: () => projectionStatus(db),
      runtime,
      signal: stopping.signal,
    }),
    queue: createDeliveryQueue(db),
    eventStore,
    execute,
    openSealed: personalData.open,
    scheduleMs: config.callbacks.scheduleMs,
    concurrency: config.callbacks.concurrency,
    runtime,
    log,
  };
  const mailer = createMailer({ mail: config.mail, outboxDir: join(config.dataDir, 'outbox'), runtime });
  const workers = new Map(
    tasksOf({ config, log, mailer, runtime }).map((task) => [
      task.kind,
      startDeliveryWorker({ ...common, ...task }),
    ]),
  );
  const eventTypes = [...toDoList.eventTypes, ...requeryList.eventTypes];
  const reader = createSharedReader(eventStore, { eventTypes });
  const process = announcer.slice(0, 8);
  const following = { eventStore: reader, personalData, db, databaseUrl, log, runtime, process };
  const requeryRun = runProjection({ projection: requeries, ...following });
  const list = runProjection({
    projection,
    ...following,
    onCommitted: () => {
      for (const kind of takeDue()) workers.get(kind)?.wake();
    },
  });
  const listener = listenForNotifications({
    databaseUrl,
    channel: dueChannel,
    onNotification(payload) {
      // This process has woken its own workers already.
      if (payload !== announcer) for (const worker of workers.values()) worker.wake();
    },
    log,
    runtime,
  });
  const registry = createTransactionRegistry({ ...config.registry, log, runtime });
  const recordAnswer = createRecordAnswer({ counts: createAnswerCounts(db), execute });
  const { perSecond, scheduled } = config.registry;
  const requery = scheduled
    ? startScheduledRequery({
        eventStore,
        recordAnswer,
        registry,
        queue: createRequeryQueue(db),
        perSecond,
        log,
        runtime,
      })
    : null;
  const eraser = createEraser({ config, eventStore, log, personalData, runtime }, db);
  const retention = startRetention({
    ...eraser,
    retention: config.retention,
    db,
    databaseUrl,
    log,
    runtime,
  });
  const admins = createListQueries<Account>(db, users.name);
  const staffEmail = startStaffEmail({
    async recipients() {
      if (config.staffAlertsTo.length > 0) return config.staffAlertsTo;
      const found = (await admins.list({ limit: mostUsers, after: null })) ?? [];
      return found.filter((each) => each.role === 'admin' && maySignIn(each)).map(({ email }) => email);
    },
    baseUrl: config.baseUrl,
    mailer,
    db,
    databaseUrl,
    log,
    runtime,
  });
  return {
    async stop() {
      // The workers first: those that still wait for the list must not claim from one that is not complete.
      const stopped = [
        ...[...workers.values()].map((worker) => worker.stop()),
        requery?.stop(),
        retention.stop(),
        staffEmail.stop(),
      ];
      stopping.abort();
      await Promise.all([listener.stop(), list.stop(), requeryRun.stop(), ...stopped]);
      await db.destroy();
    },
  };
}

/** What the workers do, one for each kind of delivery. */
function tasksOf({
  config,
  log,
  mailer,
  runtime,
}: Pick<RoleDependencies, 'config' | 'log' | 'runtime'> & { mailer: Mailer }): WorkerTask[] {
  const { production, callbacks, landRegistry, merchants } = config;
  const post = createOutbound({ allowHosts: callbacks.allowHosts, httpsOnly: production, runtime });
  const tasks: WorkerTask[] = [
    {
      name: 'merchant-callback',
      kind: 'callback',
      perform: createMerchantCallback({ merchants, post, runtime }),
    },
    { name: 'receipt-email', kind: 'email', perform: createReceiptEmail({ mailer, config, runtime }) },
  ];
  if (landRegistry) {
    const client = createLandRegistry({ config: landRegistry, post: postTo(landRegistry, runtime), runtime });
    const perform = createLandRegistryCallback({ landRegistry: client, runtime });
    tasks.push({ name: 'land-registry-callback', kind: 'item', perform });
  } else log.warn('LANDREG_BASE_URL is not set: callbacks to the land registry wait');
  return tasks;
}

/** The operator configured this host, so it may be in the private network. */
function postTo({ callbackUrl, connectTimeoutMs, timeoutMs }: LandRegistryConfig, runtime: Runtime) {
  const allowHosts = [new URL(callbackUrl).hostname.replace(/^\[|\]$/g, '')];
  const timeouts = { connectTimeoutMs, timeoutMs, bodyTimeoutMs: timeoutMs };
  return createOutbound({ allowHosts, httpsOnly: false, runtime, ...timeouts });
}

export const reactors = roleCommand({
  name: 'reactors',
  summary: 'the role that sends callbacks and receipts, and requeries',
  start: startReactors,
});
