/** `ledger reactors`: the role that sends callbacks and receipts, and asks the registry about payments left open. */
import { join } from 'node:path';
import { createLandRegistry } from '../clients/land-registry/callback.ts';
import { createMailer } from '../clients/mail/mailer.ts';
import { createOutbound } from '../clients/outbound/post.ts';
import { createTransactionRegistry } from '../clients/registry/registry.ts';
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import type { LandRegistryConfig } from '../config/callbacks-and-mail.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { startRetention } from '../personal-data/retention.ts';
import { listenForNotifications } from '../postgres/notifications.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { createDeliveryQueue } from '../projections/deliveries/queue.ts';
import { dueChannel } from '../projections/deliveries/table.ts';
import { createLandRegistryCallback } from '../reactors/callbacks/land-registry-callback.ts';
import { createMerchantCallback } from '../reactors/callbacks/merchant-callback.ts';
import { startDeliveryWorker } from '../reactors/deliveries/worker.ts';
import { createReceiptEmail } from '../reactors/email/receipt-email.ts';
import { startScheduledRequery } from '../reactors/requery/scheduled-requery.ts';
import { createEraser } from './eraser.ts';
import { type RoleDependencies, type Running, roleCommand } from './lifecycle.ts';

/** Starts every reactor; each waits for its stores. */
export function startReactors({ config, eventStore, log, personalData, runtime }: RoleDependencies): Running {
  // The answers of the registry are sealed.
  void personalData.start();
  const { production, callbacks, landRegistry, databaseUrl, mail, dataDir, merchants } = config;
  const db = connectPostgres({ url: databaseUrl, log });
  const common = {
    queue: createDeliveryQueue(db),
    eventStore,
    execute: createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal }),
    openSealed: personalData.open,
    scheduleMs: callbacks.scheduleMs,
    runtime,
    log,
  };
  const post = createOutbound({ allowHosts: callbacks.allowHosts, httpsOnly: production, runtime });
  const mailer = createMailer({ mail, outboxDir: join(dataDir, 'outbox'), runtime });
  const reactors = [
    startDeliveryWorker({
      ...common,
      name: 'merchant-callback',
      kind: 'callback',
      perform: createMerchantCallback({ merchants, post, runtime }),
    }),
    startDeliveryWorker({
      ...common,
      name: 'receipt-email',
      kind: 'email',
      perform: createReceiptEmail({ mailer, config, runtime }),
    }),
  ];
  if (landRegistry) {
    const post = postTo(landRegistry, runtime);
    const perform = createLandRegistryCallback({
      landRegistry: createLandRegistry({ config: landRegistry, post, runtime }),
      runtime,
    });
    reactors.push(startDeliveryWorker({ ...common, name: 'land-registry-callback', kind: 'item', perform }));
  } else log.warn('LANDREG_BASE_URL is not set: callbacks to the land registry wait');
  const registry = createTransactionRegistry({ ...config.registry, log, runtime });
  const requery = config.registry.scheduled
    ? startScheduledRequery({ ...common, registry, db, databaseUrl, runtime })
    : null;
  const { erase, erasures } = createEraser({ config, eventStore, log, personalData, runtime }, db);
  const retention = startRetention({
    erase,
    erasures,
    retention: config.retention,
    db,
    databaseUrl,
    log,
    runtime,
  });
  const listener = listenForNotifications({
    databaseUrl,
    channel: dueChannel,
    onNotification: () => {
      for (const reactor of reactors) reactor.wake();
    },
    log,
    runtime,
  });
  return {
    async stop() {
      await listener.stop();
      await Promise.all([...reactors.map((reactor) => reactor.stop()), requery?.stop(), retention.stop()]);
      await db.destroy();
    },
  };
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
