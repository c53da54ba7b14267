// From a merchant's request to its callback, with every role in its own process on this machine: how many per second, how
// soon after the gateway's result, and what a hanging receiver costs the others. Run alone: npm run bench callbacks
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { freePort } from '../packages/embedded/free-port.ts';
import { startPostgres } from '../packages/embedded/postgres.ts';
import { checksumOf } from '../packages/sandbox/checksum.ts';
import type { Row } from './row.ts';

const inFlight = 64;
const throughputMs = 8_000;
const latencyMs = 10_000;
const isolationRounds = 3;
const isolationMs = 6_000;
const receivers = 10;
const secret = 'a-secret-of-this-benchmark-alone-long-enough';
const agent = new Agent({ keepAlive: true, maxSockets: inFlight });

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

type Ledger = { port: number; barePort: number; databaseUrl: string };

/** Takes about two minutes. */
export async function benchCallbacks(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-callbacks-'));
  const children: ChildProcess[] = [];
  const postgres = await startPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
  const merchants = await startMerchants();
  try {
    const ledger = await startRoles(folder, postgres.url, children);
    const bare = await bareRequestsPerSecond(ledger.barePort);
    const rate = await paymentsPerSecond(ledger, merchants);
    const pausesMs = 1000 / (rate / 10);
    const soon = await latencies(ledger, merchants, pausesMs, latencyMs);
    const [alone, besideHanging] = await isolation(ledger, merchants, pausesMs);
    return [
      { name: 'bare Koa handler with one append', value: bare, unit: 'requests/s' },
      { name: 'request to callback and rows', value: rate, unit: 'payments/s', ratio: rate / bare },
      { name: 'result to callback, median', value: quantile(soon, 0.5), unit: 'ms', target: '< 25' },
      { name: 'result to callback, p99', value: quantile(soon, 0.99), unit: 'ms', target: '< 150' },
      { name: 'p99 of nine receivers', value: alone, unit: 'ms' },
      {
        name: 'p99 of the nine while a tenth hangs',
        value: besideHanging,
        unit: 'ms',
        ratio: besideHanging / alone,
        target: 'ratio < 1.2',
      },
    ];
  } finally {
    agent.destroy();
    for (const child of children) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    merchants.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function startRoles(folder: string, databaseUrl: string, children: ChildProcess[]): Promise<Ledger> {
  const store = fork(path('eventstore-server.ts'), [join(folder, 'events.db')]);
  children.push(store);
  const [{ port: storePort }] = await once(store, 'message');
  const esdbUrl = `esdb://127.0.0.1:${storePort}?tls=false`;
  const bare = fork(path('bare-handler.ts'), [esdbUrl]);
  children.push(bare);
  const [{ port: barePort }] = await once(bare, 'message');
  const merchantsFile = join(folder, 'merchants.yaml');
  await writeFile(
    merchantsFile,
    `merchants: { bench-app: { name: Bench Agency, id: 1, api_keys: [${secret}], webhook_secret: [${secret}] } }`,
  );
  const port = await freePort();
  for (const role of ['projections', 'reactors', 'http']) {
    const child = spawn(process.execPath, [path('../src/main.ts'), role], {
      env: {
        PATH: process.env.PATH,
        MERCHANTS_FILE: merchantsFile,
        PORT: String(port),
        ESDB_URL: esdbUrl,
        DATABASE_URL: databaseUrl,
        GATEWAY_URL: 'https://gateway.example/',
        GATEWAY_SECRET: secret,
        REGISTRY_URL: 'https://registry.example/',
        REGISTRY_TOKEN: secret,
        REQUERY_SCHEDULE: 'off',
        TRANSACTION_ID_KEY: secret,
        DATA_KEY: Buffer.alloc(32).toString('base64'),
        SEAL_KEY: '5ea1'.repeat(16),
        LOG_LEVEL: 'warn',
        // All requests come from one address.
        RATE_LIMIT_PAGES: '1000000',
        RATE_LIMIT_CALLS: '1000000',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.push(child);
  }
  while (!(await fetch(`http://127.0.0.1:${port}/generic/check`).catch(() => null))) {
    if (children.some(({ exitCode }) => exitCode !== null)) throw new Error('a role did not start');
    await sleep(50);
  }
  return { port, barePort, databaseUrl };
}

type Merchants = Awaited<ReturnType<typeof startMerchants>>;

/** Receivers on a port each, so that the reactors treat them as different receivers. */
async function startMerchants() {
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
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`),
    hang: (hangs: boolean) => {
      isHanging = hangs;
      if (!hangs) servers[0]?.closeAllConnections();
    },
    /** When the callback of this transaction arrived. */
    async callbackOf(transactionId: string): Promise<number> {
      await new Promise<void>((resolve) => waiting.set(transactionId, resolve));
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

/** Requests a payment and reports it as paid; resolves to the ms from the gateway's result to the callback. */
async function pay({ port }: Ledger, merchants: Merchants, receiver: number): Promise<number> {
  made += 1;
  const asked = await post(port, '/generic/request', 'application/json', {
    merchant_code: 'bench-app',
    trans_id: `BENCH-${Date.now().toString(36)}-${made}`,
    amount: '120.50',
    service: 'Licences',
    description: 'Business licence 2026',
    callback_url: merchants.urls[receiver],
    redirect_url: 'https://merchant.example/done',
    name: 'Nurul binti Abdullah',
  });
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
  await post(port, '/generic/response', 'application/json', {
    ...fields,
    CHECKSUM: checksumOf(fields, secret),
  });
  return (await arrival) - startedMs;
}

async function paymentsPerSecond(ledger: Ledger, merchants: Merchants): Promise<number> {
  await inParallel(2_000, () => pay(ledger, merchants, made % receivers));
  const before = made;
  const startedMs = performance.now();
  await inParallel(throughputMs, () => pay(ledger, merchants, made % receivers));
  const client = new pg.Client({ connectionString: ledger.databaseUrl });
  await client.connect();
  const isDone = async () => {
    const { rows } = await client.query(
      `select count(*)::integer as paid from payments.payments where status = 'succeeded'`,
    );
    return rows[0].paid === made;
  };
  while (!(await isDone())) await sleep(10);
  const seconds = (performance.now() - startedMs) / 1000;
  await client.end();
  return (made - before) / seconds;
}

/** Payments at a steady rate, however long the answers take. */
async function latencies(
  ledger: Ledger,
  merchants: Merchants,
  pauseMs: number,
  durationMs: number,
  receiver = () => made % receivers,
): Promise<number[]> {
  const running: Promise<number>[] = [];
  const startedMs = performance.now();
  while (performance.now() - startedMs < durationMs) {
    running.push(pay(ledger, merchants, receiver()));
    await sleep(Math.max(0, startedMs + running.length * pauseMs - performance.now()));
  }
  return await Promise.all(running);
}

/**
 * The p99 of nine receivers while the tenth answers and while it hangs, in alternating rounds; the median of the rounds.
 * The tenth gets its share of the payments in both cases.
 */
async function isolation(ledger: Ledger, merchants: Merchants, pauseMs: number): Promise<[number, number]> {
  const others = () => 1 + (made % (receivers - 1));
  const p99 = async (hangs: boolean) => {
    merchants.hang(hangs);
    const tenth = setInterval(() => void pay(ledger, merchants, 0), pauseMs * receivers);
    const measured = await latencies(ledger, merchants, pauseMs, isolationMs, others);
    clearInterval(tenth);
    return quantile(measured, 0.99);
  };
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let round = 0; round < isolationRounds; round += 1) {
    alone.push(await p99(false));
    beside.push(await p99(true));
  }
  return [quantile(alone, 0.5), quantile(beside, 0.5)];
}

async function bareRequestsPerSecond(port: number): Promise<number> {
  const body = { text: 'x'.repeat(400) };
  await inParallel(1_000, () => post(port, '/', 'application/json', body));
  let answered = 0;
  const startedMs = performance.now();
  await inParallel(4_000, async () => {
    await post(port, '/', 'application/json', body);
    answered += 1;
  });
  return answered / ((performance.now() - startedMs) / 1000);
}

async function inParallel(durationMs: number, work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  const loop = async () => {
    while (performance.now() - startedMs < durationMs) await work();
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
}

/** Resolves to the body of the answer; rejects unless the status is 200 or 303. */
function post(port: number, requestPath: string, accept: string, body: object): Promise<string> {
  const text = JSON.stringify(body);
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
        response.on('end', () =>
          response.statusCode === 200 || response.statusCode === 303
            ? resolve(answer)
            : reject(new Error(`answered ${response.statusCode}: ${answer}`)),
        );
      },
    );
    sending.on('error', reject);
    sending.end(text);
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
