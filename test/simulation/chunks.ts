/**
 * Runs many seeds in processes of their own, each of which ends after a few: what simulations leave in memory ends with
 * it, and while one waits for its PostgreSQL another computes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** What a process tells of each seed. */
export type SeedOutcome = {
  seed: number;
  simulatedMs: number;
  events: number;
  payments: number;
  /** How often each kind of fault was injected. */
  faults: Readonly<Record<string, number>>;
  /** The known faults that were seen. */
  known: readonly string[];
  hasFailed: boolean;
};

export type Totals = ReturnType<typeof createTotals>;

export function createTotals() {
  const sums = { seeds: 0, simulatedMs: 0, events: 0, payments: 0, failed: 0 };
  const faults = new Map<string, number>();
  const known = new Map<string, number>();
  const count = (counts: Map<string, number>, key: string, by: number) =>
    void counts.set(key, (counts.get(key) ?? 0) + by);
  const listOf = (counts: ReadonlyMap<string, number>) =>
    [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ');

  const summary = () => {
    const hours = (sums.simulatedMs / 3_600_000).toFixed(0);
    const injected = [...faults.values()].reduce((sum, each) => sum + each, 0);
    return `${sums.seeds} seeds, ${hours} simulated hours, ${sums.payments} payments, ${injected} faults, ${sums.events} events checked, ${sums.failed} failed`;
  };
  return {
    add(outcome: SeedOutcome): void {
      sums.seeds += 1;
      sums.simulatedMs += outcome.simulatedMs;
      sums.events += outcome.events;
      sums.payments += outcome.payments;
      if (outcome.hasFailed) sums.failed += 1;
      for (const [kind, times] of Object.entries(outcome.faults)) count(faults, kind, times);
      for (const name of outcome.known) count(known, name, 1);
    },
    failed: () => sums.failed,
    /** One line. */
    summary,
    /** With what kinds of faults, and the known faults that were seen. */
    report: () =>
      [
        summary(),
        `  faults: ${listOf(faults) || 'none'}`,
        `  seeds with a known fault: ${listOf(known) || 'none'}`,
      ].join('\n'),
  };
}

const seedsOfProcess = 50;
/** Where a line cannot be written over, there is one for so many seeds. */
const seedsOfLine = 10;
/**
 * Much garbage, of which hardly any lives long; most code runs too seldom to be optimized. Without the last two, 64 MB of
 * buffers, which the program holds anyway, start a search of the whole memory every few seconds.
 */
const nodeArguments = [
  '--always-sparkplug',
  '--use-largepages=silent',
  '--single-threaded-gc',
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
  '--initial-old-space-size=256',
  '--external-memory-accounted-in-global-limit',
];

/**
 * Runs `count` seeds from `first` on until `endMs` of performance.now(), in at most `jobs` processes at a time. Unless
 * `goesOn`, it begins no more seeds once one has failed. The exit code: 0 if none has.
 */
export async function runInChunks({
  first,
  count,
  endMs,
  jobs,
  goesOn,
  args,
}: {
  first: number;
  count: number;
  endMs: number;
  jobs: number;
  goesOn: boolean;
  /** Of the command line, without those that say which seeds. */
  args: readonly string[];
}): Promise<number> {
  const startedMs = performance.now();
  const totals = createTotals();
  const { isTTY } = process.stdout;
  const children = new Set<ReturnType<typeof fork>>();
  process.once('exit', () => children.forEach((child) => void child.kill()));
  let next = first;
  let hasFailed = false;

  async function runChunk(seed: number, seeds: number): Promise<void> {
    const minutes = (endMs - performance.now()) / 60_000;
    const until = Number.isFinite(minutes) ? ['--minutes', String(minutes)] : [];
    const child = fork(
      process.argv[1] ?? '',
      [...args, '--seed', String(seed), '--seeds', String(seeds), ...until],
      { execArgv: [...process.execArgv, ...nodeArguments], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
    );
    children.add(child);
    child.on('message', (message: SeedOutcome | object) => {
      // PostgreSQL, too, has something to say when it starts.
      if (!('seed' in message)) return;
      totals.add(message);
      if (isTTY) process.stdout.write(`\r${totals.summary()}`);
      else if (message.seed % seedsOfLine === 0) process.stdout.write(`${totals.summary()}\n`);
    });
    let hasSpoken = false;
    child.stdout?.on('data', (said: Buffer) => {
      hasSpoken = true;
      process.stdout.write(said);
    });
    const [code] = await once(child, 'close');
    children.delete(child);
    if (code === 0) return;
    hasFailed = true;
    if (!hasSpoken) process.stdout.write(`\nThe process of seed ${seed} and after ended with ${code}\n`);
  }

  async function work(): Promise<void> {
    while (next < first + count && performance.now() < endMs && (goesOn || !hasFailed)) {
      const seed = next;
      next = Math.min(first + count, seed + seedsOfProcess);
      await runChunk(seed, next - seed);
    }
  }

  await Promise.all(Array.from({ length: jobs }, work));
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  process.stdout.write(`${isTTY ? '\n' : ''}${totals.report()}\n  in ${minutes} min\n`);
  return hasFailed ? 1 : 0;
}
