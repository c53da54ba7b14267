// `npm start` as a whole: the time to its first answer and its memory after payments; and what a receipt email costs on top
// of a payment's life. Run alone: npm run bench service
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import program from '../package.json' with { type: 'json' };
import { freePort } from '../packages/embedded/free-port.ts';
import {
  environment,
  inParallel,
  type Ledger,
  pay,
  startLedger,
  startMerchants,
  startStores,
} from './ledger.ts';
import { memoryOf, path, startLedgerProcess, stopProcess } from './processes.ts';
import { quantile, type Row } from './row.ts';

const payments = 500;
const emails = 150;
const rounds = 3;
/** What `npm start` gives to Node itself. */
const startOptions = program.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** Takes about a minute. */
export async function benchService(): Promise<Row[]> {
  return [...(await startAndMemory()), ...(await receipts())];
}

async function startAndMemory(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-service-'));
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const env = {
    ...(await environment(folder)),
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
  };
  const merchants = await startMerchants(1);
  const start = async () => {
    const startedMs = performance.now();
    const child = startLedgerProcess('serve', env, startOptions);
    while (!(await fetch(`http://127.0.0.1:${port}/generic/check`).catch(() => null))) {
      if (child.exitCode !== null) throw new Error('ledger serve did not start');
      await sleep(10);
    }
    return { child, seconds: (performance.now() - startedMs) / 1000 };
  };
  const fresh = await start();
  try {
    await inParallel(
      16,
      (begun) => begun >= payments,
      () => pay(port, merchants),
    );
    await sleep(3_000);
    const memory = memoryOf(fresh.child.pid);
    await stopProcess(fresh.child);
    const again: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { child, seconds } = await start();
      again.push(seconds);
      await stopProcess(child);
    }
    return [
      { name: 'npm start to its first answer, fresh', value: fresh.seconds, unit: 's', target: '<= 3' },
      {
        name: 'npm start to its first answer, again',
        value: quantile(again, 0.5),
        unit: 's',
        target: '<= 1.5',
      },
      {
        name: `npm start, memory after ${payments} payments (PSS)`,
        value: memory,
        unit: 'MB',
        target: '<= 350',
      },
    ];
  } finally {
    await stopProcess(fresh.child, 'SIGKILL');
    merchants.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Lives with and without a receipt email, in turns. */
async function receipts(): Promise<Row[]> {
  const stores = await startStores();
  const ledger = await startLedger(stores, {}, { NODE_OPTIONS: `--import ${path('loop-delay.mjs')}` });
  const merchants = await startMerchants(10);
  const reactors = ledger.processOf('reactors');
  const delayOfReactors = async (): Promise<number> => {
    if (!reactors) return 0;
    reactors.send('delay');
    return (await once(reactors, 'message'))[0].p99Ms;
  };
  const live = async (email: string) => {
    const before = cpuOf(ledger);
    await delayOfReactors();
    await inParallel(
      4,
      (begun) => begun >= emails,
      () => pay(ledger.ports[0] ?? 0, merchants, undefined, { email }),
    );
    const left = `select count(*) as value from reactor_deliveries.deliveries where state = 'due'`;
    while ((await ledger.query(left)) > 0) await sleep(50);
    return { ms: (cpuOf(ledger) - before) / emails, delayMs: await delayOfReactors() };
  };
  try {
    await live('nurul@example.com'); // only warms up
    const [added, delays]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const plain = await live('');
      const withEmail = await live('nurul@example.com');
      added.push(withEmail.ms - plain.ms);
      delays.push(withEmail.delayMs);
    }
    return [
      {
        name: 'receipt email with its PDF, on top of a life',
        value: quantile(added, 0.5),
        unit: 'ms CPU',
        target: '<= 12',
      },
      {
        name: 'event-loop delay p99 while receipts are drawn',
        value: quantile(delays, 0.5),
        unit: 'ms',
        target: '<= 10',
      },
    ];
  } finally {
    await ledger.stop();
    merchants.close();
    await stores.stop();
  }
}

const cpuOf = (ledger: Ledger) => Object.values(ledger.cpuMs()).reduce((sum, each) => sum + each, 0);
