// The speed and memory of rebuilds, compared with only reading the same events in the same run, and their effect on
// requests. For a short run: BENCH_EVENTS=100000 npm run bench rebuild
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { startPostgres } from '../packages/embedded/postgres.ts';
import { fill } from './payments-log.ts';
import type { Measured } from './rebuild-child.ts';
import { benchRequestsDuringRebuilds } from './rebuild-requests.ts';
import type { Row } from './row.ts';

const events = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const measured = ['payments', 'journal', 'details'];

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Takes about seven minutes and 3 GB in the temporary folder. */
export async function benchRebuild(): Promise<Row[]> {
  return [...(await benchRequestsDuringRebuilds()), ...(await benchSpeed())];
}

async function benchSpeed(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rebuild-'));
  const file = join(folder, 'events.db');
  fill(file, events);
  const postgres = await startPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
  const store = fork(path('eventstore-server.ts'), [file], { execArgv: ['--max-semi-space-size=8'] });
  try {
    const [{ port }] = await once(store, 'message');
    const measure = (what: string) =>
      run([what, String(events), `esdb://127.0.0.1:${port}?tls=false`, postgres.url]);
    const rows: Row[] = [];
    // Read before and after each, so that other load on the machine affects both.
    let readBefore = await measure('read');
    for (const name of measured) {
      const rebuilt = await measure(name);
      const readAfter = await measure('read');
      const reading = (rateOf(readBefore) + rateOf(readAfter)) / 2;
      readBefore = readAfter;
      rows.push({ name: `read ${events.toLocaleString('en')} events`, value: reading, unit: 'events/s' });
      rows.push({
        name: `rebuild ${name}`,
        value: rateOf(rebuilt),
        unit: 'events/s',
        ratio: rateOf(rebuilt) / reading,
        target: 'ratio >= 0.6',
      });
      const [early = 0, late = 0] = rebuilt.heaps;
      rows.push({ name: '  heap in use after a quarter', value: early / 2 ** 20, unit: 'MiB' });
      rows.push({
        name: '  heap in use at the end',
        value: late / 2 ** 20,
        unit: 'MiB',
        ratio: late / early,
        target: 'ratio <= 1.1',
      });
      rows.push({ name: '  resident at its peak', value: rebuilt.residentPeak / 2 ** 20, unit: 'MiB' });
    }
    return rows;
  } finally {
    store.disconnect();
    await once(store, 'exit');
    await postgres.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

const rateOf = ({ events: taken, seconds }: Measured) => taken / seconds;

async function run(args: readonly string[]): Promise<Measured> {
  const child: ChildProcess = fork(path('rebuild-child.ts'), args, { execArgv: ['--expose-gc'] });
  const [result] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof result !== 'object' || result === null) throw new Error(`${args[0]} ended without a result`);
  if (child.exitCode === null) await once(child, 'exit');
  return result as Measured;
}
