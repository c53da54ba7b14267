// The speed and memory of rebuilds, compared with only reading the same events in the same run, and their effect on
// requests. For a short run: BENCH_EVENTS=100000 npm run bench rebuild
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { startStores } from './ledger.ts';
import { fill } from './payments-log.ts';
import { cpuMsOf, path } from './processes.ts';
import type { Measured } from './rebuild-child.ts';
import { benchRequestsDuringRebuilds } from './rebuild-requests.ts';
import type { Row } from './row.ts';

const events = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const measured = ['payments', 'journal', 'details'];

/** Takes about seven minutes and 3 GB in the temporary folder. */
export async function benchRebuild(): Promise<Row[]> {
  return [...(await benchRequestsDuringRebuilds()), ...(await benchSpeed())];
}

export async function benchSpeed(): Promise<Row[]> {
  const stores = await startStores((file) => fill(file, events));
  const measure = (what: string) =>
    run(
      [what, String(events), stores.esdbUrl, stores.databaseUrl],
      [stores.store.pid, stores.postmaster.pid],
    );
  try {
    const rows: Row[] = [];
    // Read before and after each, so that other load on the machine affects both.
    let readBefore = await measure('read');
    for (const name of measured) {
      const rebuilt = await measure(name);
      const readAfter = await measure('read');
      const reading = (costOf(readBefore) + costOf(readAfter)) / 2;
      readBefore = readAfter;
      rows.push({ name: `read ${events.toLocaleString('en')} events, by ${name}`, value: reading, unit });
      rows.push({
        name: `rebuild ${name}`,
        value: costOf(rebuilt),
        unit,
        ratio: costOf(rebuilt) / reading,
        ...(name === 'payments' && { target: '<= 65' }),
      });
      rows.push({ name: `  ${name}, rate`, value: rebuilt.events / rebuilt.seconds, unit: 'events/s' });
      const [early = 0, late = 0] = rebuilt.heaps;
      rows.push({
        name: `  ${name}, heap in use at the end, to a quarter`,
        value: late / 2 ** 20,
        unit: 'MiB',
        ratio: late / early,
        target: 'ratio <= 1.1',
      });
      rows.push({ name: `  ${name}, resident peak`, value: rebuilt.residentPeak / 2 ** 20, unit: 'MiB' });
    }
    return rows;
  } finally {
    await stores.stop();
  }
}

const unit = 'us CPU';
type Cost = Measured & { cpuMs: number };
/** CPU time of all processes for an event. */
const costOf = ({ cpuMs, events: taken }: Cost) => (cpuMs / taken) * 1000;

async function run(args: readonly string[], pids: readonly (number | undefined)[]): Promise<Cost> {
  const before = cpuMsOf(...pids);
  const child: ChildProcess = fork(path('rebuild-child.ts'), args, { execArgv: ['--expose-gc'] });
  const [result] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof result !== 'object' || result === null) throw new Error(`${args[0]} ended without a result`);
  const cpuMs = cpuMsOf(...pids) - before + result.cpuMs;
  if (child.exitCode === null) await once(child, 'exit');
  return { ...result, cpuMs };
}
