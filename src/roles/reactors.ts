/** `ledger reactors`: the role that sends callbacks and receipts, and asks the registry about payments left open. */
import { join } from 'node:path';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { createMailer } from '@ledger/outbound/mailer.ts';
import { createOutbound } from '@ledger/outbound/post.ts';
import { createLeaderElection } from '@ledger/postgres/leader-election.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import { runProjection } from '@ledger/projections/runtime/run.ts';
import { createSharedReader } from '@ledger/projections/runtime/shared-reader.ts';
import { createReportItem } from '../clients/land-registry/callback.ts';
import { createTransactionRegistry } from '../clients/transaction-registry/registry.ts';
import { createCredentials } from '../commands/credentials.ts';
import { createExecute } from '../commands/execute.ts';
import { assertKeys } from '../commands/key-fingerprint.ts';
import { paymentDecider } from '../commands/payment.ts';
import { createRecordAnswer } from '../commands/record-answer.ts';
import type { LandRegistryConfig } from '../config/callbacks-and-mail.ts';
import { projectionRequestTypes } from '../events/projection-requests.ts';
import { createLandRegistryCallback } from '../reactors/callbacks/land-registry-callback.ts';
import { createMerchantCallback } from '../reactors/callbacks/merchant-callback.ts';
import { startDeliveryWorker, type WorkerTask } from '../reactors/deliveries/worker.ts';
import { createReceiptEmail } from '../reactors/email/receipt-email.ts';
import { startExpiry } from '../reactors/expiry.ts';
import { startRequests } from '../reactors/projection-requests/watch.ts';
import { startScheduledRequery } from '../reactors/requery/scheduled-requery.ts';
import { createDeliveryList, deliveryList } from '../to-do/delivery-list.ts';
import { createDeliveryQueue } from '../to-do/delivery-queue.ts';
import { dueChannel } from '../to-do/delivery-rows.ts';
import { requeryList } from '../to-do/requery-list.ts';
import { createAnswerCounts, createRequeryQueue } from '../to-do/requery-queue.ts';
import { endProcess, type Running } from './lifecycle.ts';
import { pdfThreads } from './pdf-threads.ts';
import { roleCommand } from './role-command.ts';
import type { RoleDependencies } from './stores.ts';

/** Starts the to-do list and every reactor; each waits for its stores. Over 70 lines: a list of what the role starts. */
export function startReactors(role: RoleDependencies): Running {
  const { clock, config, eventStore, log, personalData, runtime } = role;
  const { callbacks, databaseUrl, registry: registryConfig } = config;
  void clock.start();
  // The answers of the registry are sealed.
  void personalData.start();
  const db = connectPostgres({ url: databaseUrl, log, keepsPlans: true });
  const stopping = new AbortController();
  const projection = createDeliveryList({ eventStore, announces: true });
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const common = { ...role, databaseUrl, db, execute };
  const awaited = { ...common, signal: stopping.signal };
  const delivering = {
    ...common,
    ...callbacks,
    ready: Promise.all([
      untilCaughtUp(projection, awaited),
      // Links in emails must work for years.
      assertKeys(config, awaited).catch(endProcess(runtime)),
    ]),
    queue: createDeliveryQueue(db),
    openSealed: personalData.open,
  };
  const workers = new Map(
    tasksOf(role).map((task) => [task.kind, startDeliveryWorker({ ...delivering, ...task })]),
  );
  const eventTypes = [...deliveryList.eventTypes, ...requeryList.eventTypes, ...projectionRequestTypes];
  const reader = createSharedReader(eventStore, { eventTypes });
  const election = createLeaderElection({ databaseUrl, runtime });
  const following = { ...common, eventStore: reader, election };
  const requeryRun = runProjection({ projection: requeryList, ...following, everyMs: 1_000 });
  const list = runProjection({ projection, ...following });
  const requests = startRequests({ ...common, eventStore: reader, projections: [projection, requeryList] });
  const listener = listenForNotifications({
    ...common,
    channel: dueChannel,
    onNotification(payload) {
      // A process of an earlier release puts its name before the kind.
      const kind = payload?.split(' ').at(-1);
      // After a new connection there is none: every worker looks for work.
      for (const [of, worker] of workers) if (kind === undefined || kind === of) worker.wake();
    },
  });
  const requery = registryConfig.scheduled
    ? startScheduledRequery({
        ...common,
        recordAnswer: createRecordAnswer({ counts: createAnswerCounts(db), execute }),
        registry: createTransactionRegistry({ config: registryConfig, log, runtime }),
        queue: createRequeryQueue(db),
        perSecond: registryConfig.perSecond,
      })
    : null;
  const expiry = startExpiry(common);
  return {
    async stop() {
      // The workers first: those that still wait for the list must not claim from one that is not complete.
      const stopped = [
        ...[...workers.values()].map((worker) => worker.stop()),
        requery?.stop(),
        expiry.stop(),
      ];
      stopping.abort();
      await Promise.all([listener.stop(), list.stop(), requeryRun.stop(), requests.stop(), ...stopped]);
      await db.destroy();
    },
  };
}

/** What the workers do, one for each kind of delivery. */
function tasksOf(role: RoleDependencies): WorkerTask[] {
  const { config, log, documents = pdfThreads(log), personalData, runtime } = role;
  const { production, callbacks, landRegistry, mail, dataDir, merchants } = config;
  const post = createOutbound({ allowHosts: callbacks.allowHosts, httpsOnly: production, runtime });
  const mailer = createMailer({ mail, outboxDir: join(dataDir, 'outbox'), runtime });
  const credentials = createCredentials({ ...role, ...config, openSealed: personalData.open });
  const merchantOf = async (code: string) => {
    const merchant = merchants.get(code);
    return merchant && { ...merchant, webhookSecrets: await credentials.webhookSecretsOf(merchant) };
  };
  const tasks: WorkerTask[] = [
    {
      name: 'merchant-callback',
      kind: 'callback',
      perform: createMerchantCallback({ merchantOf, post, runtime }),
    },
    {
      name: 'receipt-email',
      kind: 'email',
      perform: createReceiptEmail({ mailer, config, drawReceipt: documents.receipt, runtime }),
    },
  ];
  if (landRegistry) {
    const post = postTo(landRegistry, runtime);
    const reportItem = createReportItem({ config: landRegistry, post, runtime });
    const perform = createLandRegistryCallback({ reportItem, runtime });
    tasks.push({ name: 'land-registry-callback', kind: 'item', perform });
  } else if ([...merchants.values()].some(({ branchCode }) => branchCode !== ''))
    log.warn('LANDREG_BASE_URL is not set: callbacks to the land registry wait');
  return tasks;
}

/** The operator configured this host, so it may be in the private network. */
function postTo({ callbackUrl, connectTimeoutMs, timeoutMs }: LandRegistryConfig, runtime: Runtime) {
  const allowHosts = [new URL(callbackUrl).hostname.replace(/^\[|\]$/g, '')];
  const timeouts = { connectTimeoutMs, timeoutMs, bodyTimeoutMs: timeoutMs };
  return createOutbound({ allowHosts, httpsOnly: false, runtime, ...timeouts });
}

export const command = roleCommand('reactors', startReactors);
