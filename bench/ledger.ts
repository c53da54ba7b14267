// The ledger as the benchmarks run it: every role in its own process, as in production, with an event store and a
// PostgreSQL that count what they are asked. Also the payments that are made with it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../packages/embedded/free-port.ts';
import { openCluster, spawnPostmaster } from '../packages/embedded/postgres/cluster.ts';
import { checksumOf } from '../packages/sandbox/checksum.ts';
import { cpuMsOf, startLedgerProcess, startModule, stopProcess } from './processes.ts';

export const secret = 'a-secret-of-this-benchmark-alone-long-enough';
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export type Ledger = Awaited<ReturnType<typeof startLedger>>;
export type Role = 'http' | 'projections' | 'reactors';

/** `fill` may write the event store's file before it starts. `stop` removes the folder. */
export async function startStores(fill?: (file: string) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-ledger-'));
  fill?.(join(folder, 'events.db'));
  const store = await startModule(
    'eventstore-server.ts',
    [join(folder, 'events.db')],
    ['--max-semi-space-size=8'],
  );
  const cluster = await openCluster(folder, new AbortController().signal);
  await appendFile(join(cluster.pgData, 'pg_hba.conf'), 'host all postgres 127.0.0.1/32 trust\n');
  const port = await freePort();
  const postmaster = spawnPostmaster(cluster, port, { shared_preload_libraries: 'pg_stat_statements' });
  postmaster.stderr?.resume();
  const superUrl = `postgres://postgres@127.0.0.1:${port}/ledger`;
  const client = await connected(superUrl);
  await client.query('create extension pg_stat_statements');
  let queries = 0;
  return {
    folder,
    esdbUrl: `esdb://127.0.0.1:${store.port}?tls=false`,
    databaseUrl: `postgres://ledger:${cluster.password}@127.0.0.1:${port}/ledger`,
    store: store.child,
    postmaster,
    async query(sql: string): Promise<number> {
      queries += 1;
      return Number((await client.query(sql)).rows[0].value);
    },
    /** Each is a commit in the ledger's database that the ledger did not make. */
    queries: () => queries,
    /** Resolves to its URL. What is done there does not count as the ledger's. */
    async createDatabase(name: string): Promise<string> {
      await client.query(`create database ${name}`);
      return superUrl.replace(/ledger$/, name);
    },
    async stop() {
      await client.end();
      store.child.disconnect(); // it then closes the log
      await once(store.child, 'exit');
      await stopProcess(postmaster, 'SIGINT');
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export type Stores = Awaited<ReturnType<typeof startStores>>;

async function connected(url: string): Promise<pg.Client> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {}); // it has ended
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (attempt === 200) throw error;
      await sleep(50);
    }
  }
}

/** Starts so many processes of each role; those of http share nothing but the stores. */
export async function startLedger(
  stores: Stores,
  counts: Readonly<Partial<Record<Role, number>>> = {},
  settings: Readonly<Record<string, string>> = {},
) {
  const { folder, esdbUrl, databaseUrl, store, postmaster, queries, query } = stores;
  const env = {
    ...(await environment(folder)),
    ESDB_URL: esdbUrl,
    DATABASE_URL: databaseUrl,
    GATEWAY_URL: 'https://gateway.example/',
    REGISTRY_URL: 'https://registry.example/',
    REGISTRY_TOKEN: secret,
    TRANSACTION_ID_KEY: secret,
    DATA_KEY: Buffer.alloc(32).toString('base64'),
    SEAL_KEY: '5ea1'.repeat(16),
    ...settings,
  };
  const roles: { role: Role; child: ChildProcess; port: number }[] = [];
  for (const role of ['projections', 'reactors', 'http'] as const) {
    for (let number = 0; number < (counts[role] ?? 1); number += 1) {
      const port = await freePort();
      const child = startLedgerProcess(role, { ...env, PORT: String(port) });
      roles.push({ role, child, port });
    }
  }
  const ports = roles.filter(({ role }) => role === 'http').map(({ port }) => port);
  for (const port of ports)
    while (!(await fetch(`http://127.0.0.1:${port}/generic/check`).catch(() => null))) {
      if (roles.some(({ child }) => child.exitCode !== null)) throw new Error('a role did not start');
      await sleep(50);
    }
  const pidsOf = (of: Role) => roles.filter(({ role }) => role === of).map(({ child }) => child.pid);
  return {
    ports,
    query,
    processOf: (of: Role) => roles.find(({ role }) => role === of)?.child,
    /** In ms, by kind of process. */
    cpuMs: () => ({
      http: cpuMsOf(...pidsOf('http')),
      'event store': cpuMsOf(store.pid),
      projections: cpuMsOf(...pidsOf('projections')),
      reactors: cpuMsOf(...pidsOf('reactors')),
      PostgreSQL: cpuMsOf(postmaster.pid),
    }),
    /** What the stores have been asked for since they started. */
    async counters() {
      store.send('counters');
      const [{ reads }] = await once(store, 'message');
      const ofLedger = `from pg_stat_statements where userid = 'ledger'::regrole`;
      const committed = `select xact_commit as value from pg_stat_database where datname = 'ledger'`;
      return {
        'stream reads': reads as number,
        'Postgres statements': await query(`select coalesce(sum(calls), 0) as value ${ofLedger}`),
        commits: (await query(committed)) - queries(),
        'WAL flushes': await query(`select sum(fsyncs) as value from pg_stat_io where object = 'wal'`),
      };
    },
    async stop() {
      agent.destroy(); // a connection that is kept would keep the server from ending at once
      await Promise.all(roles.map(({ child }) => stopProcess(child)));
    },
  };
}

/** What every process of the ledger is started with. */
export async function environment(folder: string): Promise<Record<string, string>> {
  const merchantsFile = join(folder, 'merchants.yaml');
  const merchant = `name: Bench Agency, id: 1, api_keys: [${secret}], webhook_secret: [${secret}]`;
  await writeFile(merchantsFile, `merchants: { bench-app: { ${merchant} } }`);
  return {
    MERCHANTS_FILE: merchantsFile,
    DATA_DIR: folder,
    GATEWAY_SECRET: secret,
    REQUERY_SCHEDULE: 'off',
    LOG_LEVEL: 'info',
    // All requests come from one address.
    RATE_LIMIT_PAGES: '1000000',
    RATE_LIMIT_CALLS: '1000000',
  };
}

export type Merchants = Awaited<ReturnType<typeof startMerchants>>;

/** Receivers of callbacks on a port each, so that the reactors treat them as different receivers. */
export async function startMerchants(receivers: number) {
  const waiting = new Map<string, () => void>();
  let isHanging = false;
  const servers = await Promise.all(
    Array.from({ length: receivers }, async (_, index): Promise<Server> => {
      const server = createServer(async (incoming, response) => {
        let body = '';
        for await (const chunk of incoming) body += chunk;
        if (index === 0 && isHanging) return;
        response.end();
        waiting.get(JSON.parse(body).transaction_id)?.();
      });
      server.keepAliveTimeout = 60_000;
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`);
  return {
    urlOf: (number: number) => urls[number % receivers],
    hang: (hangs: boolean) => {
      isHanging = hangs;
      if (!hangs) servers[0]?.closeAllConnections();
    },
    /** When the callback of this transaction arrived. */
    async callbackOf(transactionId: string): Promise<number> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.set(transactionId, resolve);
      const timer = setTimeout(() => reject(new Error(`No callback of ${transactionId}`)), 60_000);
      await promise.finally(() => clearTimeout(timer));
      waiting.delete(transactionId);
      return performance.now();
    },
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

let made = 0;
const run = Date.now().toString(36);

/** The fields of a new payment, as merchants send them. */
export function newRequest(callbackUrl = 'https://merchant.example/callback', more: object = {}): object {
  made += 1;
  return {
    merchant_code: 'bench-app',
    trans_id: `BENCH-${run}-${made}`,
    amount: '120.50',
    service: 'Licences',
    description: 'Business licence 2026',
    callback_url: callbackUrl,
    redirect_url: 'https://merchant.example/done',
    name: 'Nurul binti Abdullah',
    ic_no: '900101-14-5678',
    ...more,
  };
}

/** Requests a payment and reports it as paid; resolves to the ms from the gateway's result to the callback. */
export async function pay(
  port: number,
  merchants: Merchants,
  receiver = made,
  more: object = {},
): Promise<number> {
  const asked = await post(port, '/generic/request', newRequest(merchants.urlOf(receiver), more));
  const { transaction_id: transactionId } = JSON.parse(asked).data;
  const fields = {
    STATUS: '1',
    PAYMENT_MODE: 'fpx',
    MERCHANT_CODE: 'bench-app',
    TRANS_ID: transactionId,
    PAYMENT_TRANS_ID: `FPX${transactionId}`,
    AMOUNT: '120.50',
    BUYER_NAME: 'NURUL BINTI ABDULLAH',
  };
  const arrival = merchants.callbackOf(transactionId);
  const startedMs = performance.now();
  await post(port, '/generic/response', { ...fields, CHECKSUM: checksumOf(fields, secret) });
  return (await arrival) - startedMs;
}

/** So many at a time until `isOver`; resolves to what was measured. */
export async function inParallel<T>(
  inFlight: number,
  isOver: (begun: number) => boolean,
  work: () => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const loop = async () => {
    while (!isOver(begun)) {
      begun += 1;
      results.push(await work());
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  return results;
}

export const forMs = (durationMs: number) => {
  const startedMs = performance.now();
  return () => performance.now() - startedMs >= durationMs;
};

/** Resolves to the body of the answer; rejects unless the status is 200 or 303. */
export function post(
  port: number,
  requestPath: string,
  body: object,
  accept = 'application/json',
): Promise<string> {
  const text = JSON.stringify(body);
  const again = () => post(port, requestPath, body, accept);
  return new Promise((resolve, reject) => {
    const headers = {
      accept,
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const sending = request(
      { agent, port, host: '127.0.0.1', path: requestPath, method: 'POST', headers },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          answer += chunk;
        });
        response.on('end', () => {
          const { statusCode = 0 } = response;
          if (statusCode === 200 || statusCode === 303) resolve(answer);
          // On a machine that is busy with other things it may ask to try again.
          else if (statusCode === 503) sleep(500).then(again).then(resolve, reject);
          else reject(new Error(`answered ${statusCode}: ${answer}`));
        });
      },
    );
    sending.on('error', (error) => {
      // The server has just closed this connection, because it was idle for seconds. Asking twice makes one payment.
      if (sending.reusedSocket) again().then(resolve, reject);
      else reject(error);
    });
    sending.end(text);
  });
}
