/** `ledger serve`: all roles in one process; embeds the event store, PostgreSQL and sandbox if no URL is set. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { superviseChild } from '@ledger/embedded/child.ts';
import { lockDataFolder, namingFullDisk } from '@ledger/embedded/data-folder.ts';
import {
  developmentKeys,
  newEventStoreCredentials,
  type Variables,
  writeEndpoints,
} from '@ledger/embedded/endpoints.ts';
import { assertPortsFree, freePort } from '@ledger/embedded/free-port.ts';
import { startPostgres } from '@ledger/embedded/postgres.ts';
import { createLog, type Log } from '@ledger/kernel/log.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { CommandOf } from '../cli/command.ts';
import { renderText } from '../common/templates.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { readEnvironment } from '../config/environment-reader.ts';
import { firstRequest } from '../http/home.ts';
import { followFiles, runUntilSignal, type Started, warnOfRisks } from './lifecycle.ts';

export const command: CommandOf<'serve'> = () => {
  // Reports every fault of the configuration before anything is started.
  const plan = loadConfig(process.env, placeholders(), { seals: true });
  const log = createLog(plan.logLevel, 'serve');
  warnOfRisks(plan, log);
  // Only this account may read what this process and its children write.
  process.umask(0o077);
  return runUntilSignal(log, (started) => namingFullDisk(plan.dataDir, () => start(plan, log, started)));
};

/** Stand-ins for what the embedded parts will supply. In production they supply no keys. */
function placeholders(): Variables {
  const isProduction = process.env.NODE_ENV === 'production';
  return {
    ESDB_URL: 'esdb://ledger:embedded@127.0.0.1?tls=false',
    DATABASE_URL: 'postgres://127.0.0.1',
    ...(!isProduction && {
      TRANSACTION_ID_KEY: 'embedded',
      LINK_KEY: 'embedded-link-key',
      GATEWAY_SECRET: 'embedded',
      SEAL_KEY: '0'.repeat(64),
      DATA_KEY: Buffer.alloc(32).toString('base64'),
    }),
    ...(!isProduction &&
      process.env.SANDBOX !== 'false' && {
        GATEWAY_URL: 'http://sandbox',
        ...sandboxRegistries('http://sandbox', 'sandbox'),
      }),
  };
}

/** The sandbox's registries know only the sandbox's payments, and its token is sent to nobody else. */
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

async function start(plan: Config, log: Log, started: Started): Promise<void> {
  const folder = lockDataFolder(plan.dataDir);
  started({ stop: async () => folder.release() });
  const { admin, host, port, sandbox } = plan;
  const hasSandbox = sandbox.enabled && !process.env.GATEWAY_URL;
  await assertPortsFree([
    { variable: 'PORT', host, port },
    ...(hasSandbox ? [{ variable: 'SANDBOX_PORT', host: '127.0.0.1', port: sandbox.port }] : []),
    ...(admin.anyPort ? [] : [{ variable: 'ADMIN_PORT', ...admin }]),
  ]);
  const keys = plan.production ? {} : await developmentKeys(folder.path);
  const env = readEnvironment(process.env, keys);
  const stores = [
    env.given('ESDB_URL') ? null : startEmbeddedEventStore(folder.path, log).then(started),
    env.given('DATABASE_URL') ? null : startPostgres({ dataDir: folder.path, log }).then(started),
  ] as const;
  // Half of the CPU time until the first answer is spent on loading the program, meanwhile.
  const program = Promise.all([import('./all-roles.ts'), import('@ledger/sandbox/gateway.ts')]);
  // If one fails, the other can be stopped only once it has started.
  await Promise.allSettled(stores);
  const [eventStore, postgres] = await Promise.all(stores);
  const [{ startAllRoles }, { startSandboxGateway }] = await program;
  const secret = env.text('GATEWAY_SECRET');
  const registryToken = systemRuntime.randomBytes(32).toString('hex');
  const gateway = hasSandbox
    ? await startSandboxGateway({
        port: sandbox.port,
        file: join(folder.path, 'sandbox-gateway.db'),
        outboxDir: join(folder.path, 'outbox'),
        secret,
        registryToken,
        webhookSecrets: [...plan.merchants.values()].flatMap((merchant) => merchant.webhookSecrets),
        log,
      })
    : null;
  if (gateway) started({ stop: gateway.close });
  const gatewayUrl = gateway && `http://localhost:${gateway.port}`;
  const endpoints = {
    ...(eventStore && { ESDB_URL: eventStore.url }),
    ...(postgres && { DATABASE_URL: postgres.url }),
    ...(gatewayUrl && { GATEWAY_URL: gatewayUrl, ...sandboxRegistries(gatewayUrl, registryToken) }),
  };
  await writeEndpoints(folder.path, endpoints);
  const load = () => loadConfig(process.env, { ...keys, ...endpoints }, { seals: true });
  const config = load();
  started(followFiles(config, load, log));
  const roles = await startAllRoles(config, log, started);
  const embedded = { eventStore: eventStore !== null, postgres: postgres !== null };
  // For a person at a terminal; log collectors get the same facts from the log.
  const base = config.port === 0 ? `http://localhost:${roles.port}` : config.baseUrl;
  const canTry = config.merchants.has('demo-app') && gatewayUrl !== null && roles.silent.length === 0;
  const first = canTry && firstRequest(base, gatewayUrl);
  const welcome = { config, ...roles, gatewayUrl, embedded, base, firstRequest: first };
  process.stdout.write(`${renderText('welcome.txt', welcome)}\n`);
}

/** The embedded event store in a process of its own, which is restarted at the same address when it ends. */
async function startEmbeddedEventStore(dataDir: string, log: Log) {
  const port = await freePort();
  const { file, credentials } = await newEventStoreCredentials(dataDir);
  const child = await superviseChild({
    name: 'event store',
    modulePath: fileURLToPath(new URL('../main.ts', import.meta.url)),
    args: [
      ...['eventstore', '--port', String(port)],
      ...['--data', join(dataDir, 'eventstore.db'), '--password-file', file],
    ],
    // Its objects live less than a millisecond: with 8 MB it takes 15 MB more after 500 payments, and no less CPU.
    nodeOptions: ['--max-semi-space-size=2'],
    log,
  });
  return { ...child, url: `esdb://${credentials}@127.0.0.1:${port}?tls=false` };
}
