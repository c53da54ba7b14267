/** `npm run fuzz`: content/docs/fuzzing.md. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { startService } from '../support/served-ledger.ts';
import { fuzz } from './run.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { requests: text, seed: text, case: text } });
const [seed, requests] = [Number(values.seed ?? 1), Number(values.requests ?? 10_000)];

/** By how much the process may have grown between the middle of the run and its end, in bytes. */
const mayGrow = { heapUsed: 32 * 2 ** 20, rss: 128 * 2 ** 20 };

const folder = await mkdtemp(join(tmpdir(), 'ledger-fuzz-'));
const service = await startService(folder);
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
try {
  process.exitCode = (await fuzzAndReport()) ? 0 : 1;
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

async function fuzzAndReport(): Promise<boolean> {
  const extent =
    values.case === undefined
      ? { from: 1, requests, inFlight: 4 }
      : { from: Number(values.case), requests: 1, inFlight: 1 };
  const options = { seed, ...extent, slowMs: 2_000, signal: interrupted.signal };
  const { faults, figures } = await fuzz(service, options);
  const { middle, end } = figures;
  print(inspect(figures, { sorted: true, maxArrayLength: null, numericSeparator: true }));
  if (end.heapUsed - middle.heapUsed > mayGrow.heapUsed || end.rss - middle.rss > mayGrow.rss)
    faults.push({ number: 0, text: 'the memory of the process grows' });
  const { isClean, report } = await service.verify();
  print(report.trim());
  if (!isClean) faults.push({ number: 0, text: 'ledger verify has found violations' });
  for (const { number, text: fault } of faults) {
    const replay = number === 0 ? `--requests ${requests}` : `--case ${number}`;
    print(`\nFAULT ${fault}\n  npm run fuzz -- --seed ${seed} ${replay}`);
  }
  print(faults.length === 0 ? 'No fault was found.' : `\n${faults.length} faults were found.`);
  return faults.length === 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
