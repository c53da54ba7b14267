/** `ledger reactors`: the role that tells others what became of payments, and asks where nobody told us. */
import { join } from 'node:path';
import { type Command, type Running, runUntilSignal, stopAll } from '../cli/command.ts';
import { createMailer } from '../clients/mail/mailer.ts';
import { createOutbound, type PostOutbound } from '../clients/outbound/post.ts';
import { createTransactionRegistry } from '../clients/registry/registry.ts';
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import type { Config } from '../config/config.ts';
import type { LandRegistryConfig } from '../config/outgoing.ts';
import { connectEventStore } from '../eventstore/client.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { createLog, type Log } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { listenForNotifications } from '../postgres/notifications.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { createDeliveryQueue } from '../projections/deliveries/queue.ts';
import { createLandRegistryCallback } from '../reactors/callbacks/land-registry-callback.ts';
import { createMerchantCallback } from '../reactors/callbacks/merchant-callback.ts';
import { startReactor } from '../reactors/deliveries/worker.ts';
import { createReceiptEmail } from '../reactors/email/receipt-email.ts';
import { startScheduledRequery } from '../reactors/requery/scheduled-requery.ts';
import { loadRoleConfig } from './role-config.ts';

/** Starts every reactor; each waits for its stores by itself. Only one connection of a process can append: it is shared. */
export function startReactors(config: Config, eventStore: EventStore, log: Log): Running {
  const { production, callbacks, landRegistry, databaseUrl, mail, dataDir, merchants } = config;
  const db = connectPostgres({ url: databaseUrl, log });
  const clock = () => new Date();
  const common = {
    queue: createDeliveryQueue(db),
    eventStore,
    execute: createExecute({ eventStore, decider: paymentDecider }),
    scheduleMs: callbacks.scheduleMs,
    clock,
    random: Math.random,
    log,
  };
  const post = createOutbound({ allowHosts: callbacks.allowHosts, httpsOnly: production });
  const mailer = createMailer({ mail, outboxDir: join(dataDir, 'outbox') });
  const reactors = [
    startReactor({
      ...common,
      name: 'merchant-callback',
      kind: 'callback',
      perform: createMerchantCallback({ merchants, post, clock }),
    }),
    startReactor({
      ...common,
      name: 'receipt-email',
      kind: 'email',
      perform: createReceiptEmail({ mailer, config, clock }),
    }),
  ];
  if (landRegistry)
    reactors.push(
      startReactor({
        ...common,
        name: 'land-registry-callback',
        kind: 'item',
        perform: createLandRegistryCallback({ config: landRegistry, post: postTo(landRegistry), clock }),
      }),
    );
  else log.warn('LANDREG_BASE_URL is not set: callbacks to the land registry wait');
  const registry = createTransactionRegistry({ ...config.registry, log });
  const requery = config.registry.scheduled
    ? startScheduledRequery({ ...common, registry, db, databaseUrl })
    : null;
  const listener = listenForNotifications({
    databaseUrl,
    onDue: () => {
      for (const reactor of reactors) reactor.wake();
    },
    log,
  });
  return {
    async stop() {
      await listener.stop();
      await Promise.all([...reactors.map((reactor) => reactor.stop()), requery?.stop()]);
      await db.destroy();
    },
  };
}

/** The operator named this host, so it may be in our own network. */
function postTo({ callbackUrl, connectTimeoutMs, timeoutMs }: LandRegistryConfig): PostOutbound {
  const allowHosts = [new URL(callbackUrl).hostname.replace(/^\[|\]$/g, '')];
  return createOutbound({ allowHosts, httpsOnly: false, connectTimeoutMs, timeoutMs, hearOutMs: timeoutMs });
}

export const reactors: Command = {
  summary: 'the role that sends callbacks and receipts, and requeries',
  usage: '',
  options: {},
  run() {
    const config = loadRoleConfig();
    const log = createLog(config.logLevel, 'reactors');
    return runUntilSignal(log, async () => {
      const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
      const role = startReactors(config, eventStore, log);
      return { stop: () => stopAll([{ stop: eventStore.close }, role]) };
    });
  },
};
