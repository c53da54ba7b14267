// The effect of rebuilds on requests, with everything on one machine: the same requests before and during rebuilds of
// payments that staff start in the console.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { pino } from 'pino';
import { freePort } from '../packages/embedded/free-port.ts';
import { createExecuteRequest } from '../src/commands/projection-requests.ts';
import { openRequest } from '../src/reactors/projection-requests/perform.ts';
import { fill } from './payments-log.ts';
import type { Row } from './row.ts';

const events = 50_000;
const requests = 2_000;
const callers = 4;
const projection = 'payments';
const main = fileURLToPath(new URL('../src/ledger.js', import.meta.url));

/** Takes about a minute. */
export async function benchRequestsDuringRebuilds(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rebuild-requests-'));
  fill(join(folder, 'eventstore.db'), events);
  const key = () => randomBytes(32).toString('hex');
  const keys = {
    TRANSACTION_ID_KEY: key(),
    GATEWAY_SECRET: key(),
    SEAL_KEY: key(),
    DATA_KEY: Buffer.alloc(32).toString('base64'),
  };
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(keys));
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    // All requests come from one address.
    RATE_LIMIT_PAGES: '1000000',
    RATE_LIMIT_CALLS: '1000000',
  };
  const service = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    const baseUrl = `http://127.0.0.1:${port}`;
    await ready(service, baseUrl);
    const { ESDB_URL } = JSON.parse(readFileSync(join(folder, 'endpoints.json'), 'utf8'));
    const round = createRound(baseUrl);
    await round(requests / 4); // only warms up
    const before = await round(requests);
    const rebuilds = startRebuilds(ESDB_URL);
    const during = await round(requests);
    await rebuilds.stop();
    return rowsOf(before, during);
  } finally {
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'exit');
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Waits until it answers and its projections have caught up. */
async function ready(service: ChildProcess, baseUrl: string): Promise<void> {
  const isReady = async () => {
    const answer = await fetch(`${baseUrl}/api/v1/health`);
    return ((await answer.json()) as { status: string }).status === 'ok';
  };
  while (!(await isReady().catch(() => false))) {
    if (service.exitCode !== null) throw new Error('ledger serve did not start');
    await sleep(500);
  }
}

/** Requests one rebuild after the other, as the console does; `stop` waits for the last. */
function startRebuilds(url: string): { stop(): Promise<void> } {
  const eventStore = connectEventStore({ url, log: pino({ level: 'warn' }), runtime: systemRuntime });
  const execute = createExecuteRequest(eventStore);
  let going = true;
  const rebuilding = (async () => {
    do {
      const id = randomUUID();
      const cause = { commandId: id, correlationId: id, causationId: id, actor: 'staff:bench' };
      const at = new Date().toISOString();
      await execute(projection, { type: 'ProjectionRebuildRequested', data: { at, projection } }, cause);
      while (await openRequest(eventStore, projection)) await sleep(50);
    } while (going);
    await eventStore.close();
  })();
  return {
    stop() {
      going = false;
      return rebuilding;
    },
  };
}

/** Sends requests, a third each for a new payment, a receipt page and a list. Resolves to their times in ms. */
function createRound(baseUrl: string): (count: number) => Promise<number[]> {
  const ids: string[] = [];
  const send = async (path: string, body?: object): Promise<string> => {
    const answer = await fetch(`${baseUrl}${path}`, {
      headers: {
        authorization: 'Bearer demo-key',
        'content-type': 'application/json',
        accept: 'application/json',
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
    return await answer.text();
  };
  const request = async () => {
    const answer = JSON.parse(await send('/generic/request', newPayment()));
    ids.push(answer.data.transaction_id);
  };
  const kinds = [
    request,
    () => (ids.length === 0 ? request() : send(`/generic/receipt/${ids.at(-1)}`)),
    () => send('/api/v1/users'),
  ];
  return async (count) => {
    const timesMs: number[] = [];
    let begun = 0;
    const caller = async () => {
      while (begun < count) {
        const kind = kinds[begun % kinds.length];
        begun += 1;
        const startedMs = performance.now();
        await kind?.();
        timesMs.push(performance.now() - startedMs);
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return timesMs.toSorted((a, b) => a - b);
  };
}

const newPayment = () => ({
  merchant_code: 'demo-app',
  trans_id: randomUUID(),
  amount: '120.50',
  service: 'Licences',
  description: 'Business licence 2026',
  callback_url: 'http://127.0.0.1:9/callback',
  redirect_url: 'http://127.0.0.1:9/done',
  name: 'Nurul binti Abdullah',
  email: 'nurul@example.com',
});

function rowsOf(before: readonly number[], during: readonly number[]): Row[] {
  const at = (timesMs: readonly number[], share: number) =>
    timesMs[Math.min(timesMs.length - 1, Math.floor(timesMs.length * share))] ?? 0;
  const figures: [string, number][] = [
    ['median', 0.5],
    ['99th percentile', 0.99],
    ['slowest', 1],
  ];
  const usual = at(before, 0.5);
  return figures.flatMap(([name, share]) => [
    {
      name: `${requests.toLocaleString('en')} requests before, ${name}`,
      value: at(before, share),
      unit: 'ms',
    },
    {
      name: `the same number during rebuilds, ${name}`,
      value: at(during, share),
      unit: 'ms',
      ratio: at(during, share) / usual,
      target: 'ratio <= 2',
    },
  ]);
}
