// A page of the documentation compared with a bare Koa handler that sends the same bytes, and the cost of rendering all
// pages. Run alone: npm run bench docs
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { Sen } from '../src/common/money.ts';
import type { Row } from './row.ts';

const page = '/docs/payment-states';
const inFlight = 64;
const rounds = 5;
const roundMs = 1_000;

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Takes about fifteen seconds. */
export async function benchDocs(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-docs-'));
  const merchants = join(folder, 'merchants.yaml');
  await writeFile(
    merchants,
    'merchants: { bench: { name: Bench, id: 1, api_keys: [a-key-of-this-benchmark-alone-long-enough] } }',
  );
  const start = await startCosts();
  const child = fork(path('docs-server.ts'), [page], { env: { ...process.env, MERCHANTS_FILE: merchants } });
  try {
    const [{ port, barePort, bytes }] = await Promise.race([once(child, 'message'), failure(child)]);
    const bareRates: number[] = [];
    const rates: number[] = [];
    // In turns, so that other load on the machine affects both; the first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      bareRates.push(await requestsPerSecond(barePort, '/', bytes));
      rates.push(await requestsPerSecond(port, page, bytes));
    }
    const [baseline, measured] = [median(bareRates.slice(1)), median(rates.slice(1))];
    return [
      { name: `bare Koa handler, ${Math.round(bytes / 1024)} KiB`, value: baseline, unit: 'requests/s' },
      {
        name: `GET ${page}, the same bytes`,
        value: measured,
        unit: 'requests/s',
        ratio: measured / baseline,
        target: 'ratio >= 0.5',
      },
      ...start,
    ];
  } finally {
    await stop(child);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The cost of loading the libraries and of the first rendering, in this process, which has not loaded them before. */
async function startCosts(): Promise<Row[]> {
  const loading = performance.now();
  const { createSite } = await import('../packages/docs-site/site.ts');
  const { siteOf } = await import('../src/http/docs.ts');
  const rendering = performance.now();
  await createSite({
    ...siteOf({
      baseUrl: 'https://pay.example',
      production: true,
      maxAmountSen: 100_000_000 as Sen,
      sandbox: { enabled: false },
      gateway: { url: 'https://gateway.example' },
    }),
    runtime: systemRuntime,
  });
  const done = performance.now();
  return [
    { name: 'loading the libraries', value: rendering - loading, unit: 'ms, once' },
    { name: 'rendering every page', value: done - rendering, unit: 'ms, once' },
  ];
}

async function failure(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`docs-server ended with ${code}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function requestsPerSecond(port: number, requestPath: string, bytes: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const startedAt = performance.now();
  let answered = 0;
  const loop = async () => {
    while (performance.now() - startedAt < roundMs) {
      await fetchPage(agent, port, requestPath, bytes);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return answered / seconds;
}

function fetchPage(agent: Agent, port: number, requestPath: string, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1', path: requestPath }, (response) => {
      let received = 0;
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      response.on('end', () =>
        received === bytes ? resolve() : reject(new Error(`${response.statusCode}, ${received} bytes`)),
      );
    }).on('error', reject);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
