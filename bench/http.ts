// POST /generic/request compared with a bare Koa handler that does one append to the same event store: the cost of
// authentication, validation, decision, hash chain and payment page. Run alone: npm run bench http
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { freePort } from '../packages/embedded/free-port.ts';
import { startPostgres } from '../packages/embedded/postgres.ts';
import type { Row } from './row.ts';

const inFlight = 64;
const rounds = 5;
const roundMs = 2_000;
const secret = 'a-secret-of-this-benchmark-alone-long-enough';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Takes about half a minute. */
export async function benchHttp(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-http-'));
  const children: ChildProcess[] = [];
  let stopPostgres = async () => {};
  try {
    const store = fork(path('eventstore-server.ts'), [join(folder, 'events.db')]);
    children.push(store);
    const esdbUrl = `esdb://127.0.0.1:${await portOf(store)}?tls=false`;
    const postgres = await startPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
    stopPostgres = postgres.stop;
    const bare = fork(path('bare-handler.ts'), [esdbUrl]);
    children.push(bare);
    const barePort = await portOf(bare);
    const port = await freePort();
    const merchantsFile = join(folder, 'merchants.yaml');
    await writeFile(
      merchantsFile,
      `merchants: { bench-app: { name: Bench Agency, id: 1, api_keys: [${secret}] } }`,
    );
    children.push(await startHttp(port, { esdbUrl, databaseUrl: postgres.url, merchantsFile }));

    const post = paymentRequests();
    const bareRates: number[] = [];
    const rates: number[] = [];
    // In turns, so that other load on the machine affects both; the first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      bareRates.push(await requestsPerSecond(barePort, '/', post));
      rates.push(await requestsPerSecond(port, '/generic/request', post));
    }
    const [baseline, measured] = [median(bareRates.slice(1)), median(rates.slice(1))];
    return [
      { name: 'bare Koa handler with one append', value: baseline, unit: 'requests/s' },
      {
        name: 'POST /generic/request, including the page',
        value: measured,
        unit: 'requests/s',
        ratio: measured / baseline,
        target: 'ratio >= 0.6',
      },
    ];
  } finally {
    for (const child of children) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await stopPostgres();
    await rm(folder, { recursive: true, force: true });
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  const [{ port }] = await once(child, 'message');
  return port;
}

/** As in production: templates are cached and all checks are on. */
async function startHttp(
  port: number,
  { esdbUrl, databaseUrl, merchantsFile }: { esdbUrl: string; databaseUrl: string; merchantsFile: string },
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path('../src/main.ts'), 'http'], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      BASE_URL: 'https://pay.example',
      MERCHANTS_FILE: merchantsFile,
      PORT: String(port),
      ESDB_URL: esdbUrl,
      DATABASE_URL: databaseUrl,
      GATEWAY_URL: 'https://gateway.example/',
      GATEWAY_SECRET: secret,
      REGISTRY_URL: 'https://registry.example',
      REGISTRY_TOKEN: secret,
      TRANSACTION_ID_KEY: secret,
      DATA_KEY: Buffer.alloc(32).toString('base64'),
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'no-reply@agency.example',
      API_KEYS: secret,
      LOG_LEVEL: 'warn',
      // All requests come from one address.
      RATE_LIMIT_PAGES: '1000000',
      RATE_LIMIT_CALLS: '1000000',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  while (!(await fetch(`http://127.0.0.1:${port}/generic/check`).catch(() => null))) {
    if (child.exitCode !== null) throw new Error('ledger http did not start');
    await sleep(50);
  }
  return child;
}

/** A new payment each time, with the fields that merchants send. */
function paymentRequests(): () => string {
  let sent = 0;
  const run = Date.now().toString(36);
  return () => {
    sent += 1;
    return JSON.stringify({
      merchant_code: 'bench-app',
      trans_id: `BENCH-${run}-${sent}`,
      amount: '120.50',
      service: 'Licences',
      description: 'Business licence 2026',
      callback_url: 'https://merchant.example/callback',
      redirect_url: 'https://merchant.example/done',
      name: 'Nurul binti Abdullah',
      email: 'nurul@example.com',
      ic_no: '900101-14-5678',
    });
  };
}

async function requestsPerSecond(port: number, requestPath: string, body: () => string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const startedAt = performance.now();
  let answered = 0;
  const loop = async () => {
    while (performance.now() - startedAt < roundMs) {
      await send(agent, port, requestPath, body());
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return answered / seconds;
}

function send(agent: Agent, port: number, requestPath: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sending = request(
      { agent, port, host: '127.0.0.1', path: requestPath, method: 'POST', headers },
      (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`)),
        );
      },
    );
    sending.on('error', reject);
    sending.end(body);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
