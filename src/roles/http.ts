/** `ledger http`: the HTTP role. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Command, type Running, runUntilSignal, stopAll } from '../cli/command.ts';
import { createTransactionRegistry } from '../clients/registry/registry.ts';
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { userDecider } from '../commands/user.ts';
import type { Config } from '../config/config.ts';
import type { Project } from '../events/project.ts';
import type { Account } from '../events/user.ts';
import { connectEventStore } from '../eventstore/client.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { createApp } from '../http/app.ts';
import { createLog, type Log } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { allProjections } from '../projections/all.ts';
import { createPaymentQueries } from '../projections/payments/queries.ts';
import { projects } from '../projections/projects/projection.ts';
import { projectionStatus } from '../projections/runtime/checkpoints.ts';
import { createListQueries } from '../projections/runtime/list-queries.ts';
import { users } from '../projections/users/projection.ts';
import { createConsole } from './console.ts';
import { loadRoleConfig } from './role-config.ts';

/** How long a request that was under way may still take once the process was asked to end. */
const drainMs = 10_000;

/** Starts the HTTP role; resolves when it listens. Only one connection of a process can append: it is shared. */
export async function startHttp(
  config: Config,
  eventStore: EventStore,
  log: Log,
): Promise<Running & { port: number }> {
  const db = connectPostgres({ url: config.databaseUrl, log });
  const execute = createExecute({ eventStore, decider: paymentDecider });
  const closing = new AbortController();
  const app = createApp({
    config,
    execute,
    eventStore,
    ...createPaymentQueries(db),
    registry: createTransactionRegistry({ ...config.registry, log }),
    content: {
      executeUser: createExecute({ eventStore, decider: userDecider }),
      users: createListQueries<Account>(db, users.name),
      projects: createListQueries<Project>(db, projects.name),
      projections: allProjections,
      projectionStatus: () => projectionStatus(db),
      version: versionOfPackage(),
    },
    console: createConsole({ config, db, eventStore, closing: closing.signal }),
    log,
  });
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, app.callback());
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  log.info({ address: `http://${config.host}:${port}` }, 'http listening');
  return {
    port,
    async stop() {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      const impatience = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(impatience);
      await db.destroy();
    },
  };
}

function versionOfPackage(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

export const http: Command = {
  summary: 'the HTTP role: merchants, payers, the gateway',
  usage: '',
  options: {},
  run() {
    const config = loadRoleConfig();
    const log = createLog(config.logLevel, 'http');
    return runUntilSignal(log, async () => {
      const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
      const role = await startHttp(config, eventStore, log);
      return { stop: () => stopAll([{ stop: eventStore.close }, role]) };
    });
  },
};
