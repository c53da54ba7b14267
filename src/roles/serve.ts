/** `ledger serve`: all roles on one machine, with an embedded event store, PostgreSQL and sandbox gateway where no URL is given. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { superviseChild } from '@ledger/embedded/child.ts';
import { lockDataFolder } from '@ledger/embedded/data-folder.ts';
import { developmentKeys, type Variables, writeEndpoints } from '@ledger/embedded/endpoints.ts';
import { freePort } from '@ledger/embedded/free-port.ts';
import { startPostgres } from '@ledger/embedded/postgres.ts';
import { startSandboxGateway } from '@ledger/sandbox/gateway.ts';
import { type Command, keepFilesPrivate, type Running, runUntilSignal, stopAll } from '../cli/command.ts';
import { registerSampleProjects } from '../cli/projects.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog, type Log } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { startHttp } from './http.ts';
import { startProjections } from './projections.ts';
import { startReactors } from './reactors.ts';
import { welcome } from './welcome.ts';

export const serve: Command = {
  summary: 'everything on this machine',
  usage: '',
  options: {},
  run() {
    // Faults are named before anything is started: here the parts to come are only promised.
    const plan = loadConfig(process.env, promised(), { seals: true });
    const log = createLog(plan.logLevel, 'serve');
    keepFilesPrivate();
    return runUntilSignal(log, () => start(plan, log));
  },
};

/** Stand-ins for what the embedded parts will supply; in production keys are never among it. */
function promised(): Variables {
  return {
    ESDB_URL: 'esdb://embedded',
    DATABASE_URL: 'postgres://embedded',
    ...(process.env.NODE_ENV !== 'production' && {
      TRANSACTION_ID_KEY: 'embedded',
      GATEWAY_SECRET: 'embedded',
      SEAL_KEY: '0'.repeat(64),
    }),
    ...(process.env.SANDBOX !== 'false' &&
      process.env.NODE_ENV !== 'production' && {
        GATEWAY_URL: 'http://sandbox',
        ...sandboxRegistries('http://sandbox', 'sandbox'),
      }),
  };
}

/** The sandbox's registries hear of the sandbox's payments only, and its token is for nobody else. */
function sandboxRegistries(gatewayUrl: string, token: string): Variables {
  if (process.env.GATEWAY_URL) return {};
  return {
    ...(!process.env.REGISTRY_URL && { REGISTRY_URL: `${gatewayUrl}/registry`, REGISTRY_TOKEN: token }),
    ...(!process.env.LANDREG_BASE_URL && {
      LANDREG_BASE_URL: gatewayUrl,
      LANDREG_CALLBACK_PATH: '/land-registry/callback',
      LANDREG_ACCESS_TOKEN: token,
    }),
  };
}

async function start(plan: Config, log: Log): Promise<Running> {
  const parts: Running[] = [];
  const started = <Part extends Running>(part: Part): Part => {
    parts.push(part);
    return part;
  };
  try {
    const folder = lockDataFolder(plan.dataDir);
    started({ stop: async () => folder.release() });
    const keys = plan.production ? {} : developmentKeys(folder.path);
    const [eventStore, postgres] = await allStarted([
      process.env.ESDB_URL ? null : startEmbeddedEventStore(folder.path, log).then(started),
      process.env.DATABASE_URL ? null : startPostgres({ dataDir: folder.path, log }).then(started),
    ]);
    const secret = process.env.GATEWAY_SECRET || keys.GATEWAY_SECRET || '';
    const registryToken = randomBytes(32).toString('hex');
    const file = join(folder.path, 'sandbox-gateway.db');
    const gateway =
      process.env.GATEWAY_URL || !plan.sandbox.enabled
        ? null
        : started(
            await startGateway({
              host: '127.0.0.1',
              port: plan.sandbox.port,
              secret,
              registryToken,
              file,
              outboxDir: join(folder.path, 'outbox'),
              log,
            }),
          );
    const endpoints = {
      ...(eventStore && { ESDB_URL: eventStore.url }),
      ...(postgres && { DATABASE_URL: postgres.url }),
      ...(gateway && { GATEWAY_URL: gateway.url, ...sandboxRegistries(gateway.url, registryToken) }),
    };
    writeEndpoints(folder.path, endpoints);
    const config = loadConfig(process.env, { ...keys, ...endpoints }, { seals: true });
    const events = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
    started({ stop: events.close });
    started(startProjections(config, events, log));
    if (!config.production)
      registerSampleProjects(events, config).catch((err: unknown) =>
        log.warn({ err }, 'the sample projects could not be registered'),
      );
    started(startReactors(config, events, log));
    const { port } = started(await startHttp(config, events, log));
    welcome({
      config,
      port,
      gatewayUrl: gateway?.url ?? null,
      embedded: { eventStore: eventStore !== null, postgres: postgres !== null },
    });
    return { stop: () => stopAll(parts) };
  } catch (error) {
    await stopAll(parts);
    throw error;
  }
}

/** Like Promise.all, but rejects only when nothing is on its way any more: all that started can then be stopped. */
async function allStarted<Parts extends readonly unknown[]>(parts: readonly [...Parts]) {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}

/** The embedded event store, as a process of its own that is kept running at one address. */
async function startEmbeddedEventStore(dataDir: string, log: Log): Promise<Running & { url: string }> {
  const port = await freePort();
  const child = await superviseChild({
    name: 'event store',
    modulePath: fileURLToPath(new URL('../main.ts', import.meta.url)),
    args: ['eventstore', '--port', String(port), '--data', join(dataDir, 'eventstore.db')],
    // Else the young generation grows to twice the memory for what is garbage within a millisecond.
    nodeOptions: ['--max-semi-space-size=8'],
    log,
  });
  return { ...child, url: `esdb://127.0.0.1:${port}?tls=false` };
}

async function startGateway(
  options: Parameters<typeof startSandboxGateway>[0],
): Promise<Running & { url: string }> {
  const { close, port } = await startSandboxGateway(options);
  return { url: `http://localhost:${port}`, stop: close };
}
