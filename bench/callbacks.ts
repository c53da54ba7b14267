// From the gateway's result to the merchant's callback: how soon at a tenth of what the machine can do, and what a hanging
// receiver costs the others. Run alone: npm run bench callbacks
import { setTimeout as sleep } from 'node:timers/promises';
import {
  forMs,
  inParallel,
  type Merchants,
  pay,
  startLedger,
  startMerchants,
  startStores,
} from './ledger.ts';
import { quantile, type Row } from './row.ts';

const inFlight = 64;
const throughputMs = 6_000;
const latencyMs = 10_000;
const isolationRounds = 3;
const isolationMs = 6_000;
const receivers = 10;

/** Takes about two minutes. */
export async function benchCallbacks(): Promise<Row[]> {
  const stores = await startStores();
  const ledger = await startLedger(stores);
  const merchants = await startMerchants(receivers);
  const [port = 0] = ledger.ports;
  try {
    await inParallel(inFlight, forMs(throughputMs / 2), () => pay(port, merchants));
    const busy = await inParallel(inFlight, forMs(throughputMs), () => pay(port, merchants));
    const rate = busy.length / (throughputMs / 1000);
    const pauseMs = 1000 / (rate / 10);
    await sleep(1_000);
    const soon = await latencies(port, merchants, pauseMs, latencyMs);
    const [alone, besideHanging] = await isolation(port, merchants, pauseMs);
    return [
      { name: 'request to callback, 64 in flight', value: rate, unit: 'payments/s' },
      {
        name: 'result to callback, 64 in flight, median',
        value: quantile(busy, 0.5),
        unit: 'ms',
        target: '<= 90',
      },
      { name: 'result to callback, a tenth of that, median', value: quantile(soon, 0.5), unit: 'ms' },
      {
        name: 'result to callback, a tenth of that, p99',
        value: quantile(soon, 0.99),
        unit: 'ms',
        target: '<= 30',
      },
      { name: 'p99 of nine receivers', value: alone, unit: 'ms' },
      {
        name: 'p99 of the nine while a tenth hangs',
        value: besideHanging,
        unit: 'ms',
        ratio: besideHanging / alone,
        target: 'ratio <= 1.2',
      },
    ];
  } finally {
    await ledger.stop();
    merchants.close();
    await stores.stop();
  }
}

/** Payments at a steady rate, however long the answers take. */
async function latencies(
  port: number,
  merchants: Merchants,
  pauseMs: number,
  durationMs: number,
  receiver?: () => number,
): Promise<number[]> {
  const running: Promise<number>[] = [];
  const startedMs = performance.now();
  while (performance.now() - startedMs < durationMs) {
    running.push(pay(port, merchants, receiver?.()));
    await sleep(Math.max(0, startedMs + running.length * pauseMs - performance.now()));
  }
  return await Promise.all(running);
}

/**
 * The p99 of nine receivers while the tenth answers and while it hangs, in alternating rounds; the median of the rounds.
 * The tenth gets its share of the payments in both cases.
 */
async function isolation(port: number, merchants: Merchants, pauseMs: number): Promise<[number, number]> {
  let sent = 0;
  const others = () => {
    sent += 1;
    return 1 + (sent % (receivers - 1));
  };
  const p99 = async (hangs: boolean) => {
    merchants.hang(hangs);
    // Those of the receiver that hangs arrive by a later attempt, or after this has ended.
    const tenth = setInterval(() => void pay(port, merchants, 0).catch(() => {}), pauseMs * receivers);
    const measured = await latencies(port, merchants, pauseMs, isolationMs, others);
    clearInterval(tenth);
    return quantile(measured, 0.99);
  };
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let round = 0; round < isolationRounds; round += 1) {
    alone.push(await p99(false));
    beside.push(await p99(true));
  }
  merchants.hang(false);
  return [quantile(alone, 0.5), quantile(beside, 0.5)];
}
