// What verifying the log costs: all of it, beside only what came after a checkpoint. The rows are what `rebuild` measures.
// For a short run: BENCH_EVENTS=100000 npm run bench verify
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startStores } from './ledger.ts';
import { fill } from './payments-log.ts';
import { cpuMsOf, path } from './processes.ts';
import type { Row } from './row.ts';
import type { Verified } from './verify-child.ts';

const events = Number(process.env.BENCH_EVENTS ?? 1_000_000);

/** Takes about six minutes and 2 GB in the temporary folder. */
export async function benchVerify(): Promise<Row[]> {
  const stores = await startStores((file) => fill(file, events));
  async function run(what: 'seal' | 'whole' | 'since') {
    const args = [what, String(events), stores.esdbUrl, stores.databaseUrl];
    const before = cpuMsOf(stores.store.pid);
    const child = fork(path('verify-child.ts'), args, { execArgv: ['--expose-gc'] });
    const ended = once(child, 'exit');
    const [verified] = (await Promise.race([once(child, 'message'), ended])) as [Verified | number];
    if (typeof verified !== 'object') throw new Error(`${what} ended without a result`);
    await ended;
    return { ...verified, storeMs: cpuMsOf(stores.store.pid) - before };
  }
  try {
    await run('seal');
    const whole = await run('whole');
    const since = await run('since');
    const rows = [
      { name: `all of ${whole.events.toLocaleString('en')} events`, of: whole },
      { name: `the ${since.events.toLocaleString('en')} after a checkpoint`, of: since },
    ].flatMap(({ name, of }): Row[] => [
      { name, value: of.cpuMs / 1_000, unit: 's CPU', ratio: of.cpuMs / whole.cpuMs },
      { name: '  in the event store', value: of.storeMs / 1_000, unit: 's CPU' },
      { name: '  time', value: of.seconds, unit: 's', ratio: of.seconds / whole.seconds },
      { name: '  resident peak', value: of.residentPeak / 2 ** 20, unit: 'MiB' },
    ]);
    const [middle = 0, end = 0] = whole.heaps;
    const heap = { name: '  heap in use at the end, to the middle', value: end / 2 ** 20, unit: 'MiB' };
    return [...rows, { ...heap, ratio: end / middle, target: 'ratio <= 1.1' }];
  } finally {
    await stores.stop();
  }
}
