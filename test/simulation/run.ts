/** Runs seeds one after the other, and reports what they find. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createTotals, runInChunks, type Totals } from './chunks.ts';
import { explain } from './known-faults.ts';
import type { Mutant } from './mutants.ts';
import { makePlan, type Plan } from './plan.ts';
import { shrink } from './shrink.ts';
import { type SimulationResult, simulate } from './simulate.ts';
import { installEventStoreClient } from './stores/event-store-client.ts';
import { type PostgresServer, startPostgresServer } from './stores/postgres-server.ts';
import { meaningOf, type Violation } from './violations.ts';

/** As the command line gives them. */
export type Options = Partial<
  Record<
    | 'seed'
    | 'seeds'
    | 'minutes'
    | 'jobs'
    | 'payments'
    | 'fault'
    | 'known'
    | 'mutant'
    | 'only-payments'
    | 'only-faults',
    string
  >
> & { history?: boolean; keep?: boolean; all?: boolean };

const print = (text: string) => void process.stdout.write(`${text}\n`);
const shrinkTries = 50;

/** The exit code: 0 if nothing was found that is not known. */
export async function run(options: Options): Promise<number> {
  installEventStoreClient();
  // The libraries make thousands of errors. Whoever replays a failure sees where it was.
  if (!options.history) Error.stackTraceLimit = 0;
  if (options.known !== undefined) return await replayKnown(options.known, options);
  const first = numberOf(options.seed, 1);
  const count = numberOf(options.seeds, options.minutes !== undefined ? Number.POSITIVE_INFINITY : 1);
  const endMs = performance.now() + numberOf(options.minutes, Number.POSITIVE_INFINITY) * 60_000;
  // Of one seed at a time, a person can read the history.
  if (process.send || count === 1 || options.history || options.keep)
    return await runSeeds(options, first, count, endMs);
  const { seed: _, seeds: __, minutes: ___, jobs, all = false, ...others } = options;
  const args = Object.entries({ ...others, all }).flatMap(([name, value]) =>
    typeof value === 'string' ? [`--${name}`, value] : value ? [`--${name}`] : [],
  );
  const most = numberOf(jobs, availableParallelism());
  return await runInChunks({ first, count, endMs, jobs: most, goesOn: all, args });
}

/** Whether the simulator finds the mutant that is in the program, within the seeds that it states. 0 if it does. */
export async function hunt({ name, payments, fault, plan: kept, seeds, seenBy }: Mutant): Promise<number> {
  installEventStoreClient();
  const server = await startPostgresServer();
  try {
    for (let seed = kept === undefined ? 1 : 0; seed <= seeds; seed += 1) {
      const plan = seed === 0 && kept !== undefined ? keptPlan(kept) : makePlan(seed, { payments, fault });
      const { fresh } = sortOut((await simulate(plan, server)).violations, plan);
      const found = fresh.find(({ invariant }) => seenBy.includes(invariant));
      if (!found) continue;
      const by = seed === 0 ? `the plan ${kept}` : `seed ${seed}`;
      print(`${name}: found by ${by}: ${found.invariant}: ${found.about}: ${found.text.split('\n')[0]}`);
      return 0;
    }
    print(`${name}: NOT FOUND within ${seeds} seeds`);
    return 1;
  } finally {
    await server.stop();
  }
}

async function runSeeds(options: Options, first: number, count: number, endMs: number): Promise<number> {
  const totals = createTotals();
  const server = await startPostgresServer();
  try {
    for (let seed = first; seed < first + count && performance.now() < endMs; seed += 1)
      if (!(await runSeed(seed, options, totals, server)) && !options.all) return 1;
  } finally {
    await server.stop();
  }
  if (!process.send) print(totals.report());
  return totals.failed() === 0 ? 0 : 1;
}

/** Resolves to whether nothing was found that is not known. */
async function runSeed(
  seed: number,
  options: Options,
  totals: Totals,
  server: PostgresServer,
): Promise<boolean> {
  const plan = planOf(seed, options);
  const result = await simulate(plan, server);
  const { fresh, names } = sortOut(result.violations, plan);
  const { simulatedMs, events } = result;
  const faults = Object.groupBy(plan.faults, ({ kind }) => kind);
  const outcome = {
    seed,
    simulatedMs,
    events,
    payments: plan.payments.length,
    faults: Object.fromEntries(Object.entries(faults).map(([kind, each]) => [kind, each.length])),
    known: names,
    hasFailed: fresh.length > 0,
  };
  totals.add(outcome);
  process.send?.(outcome);
  if (options.history) print(result.lines.join('\n'));
  if (!process.send || fresh.length > 0)
    print(`${seedLine(seed, result)}${names.length > 0 ? `  known: ${names.join(', ')}` : ''}`);
  if (options.keep) for (const name of names) if (!existsSync(fileOf(name))) await keep(name, plan, server);
  if (fresh.length > 0)
    await explainFailure(seed, plan, fresh, { server: options.all ? null : server, fault: options.fault });
  return fresh.length === 0;
}

function planOf(seed: number, options: Options): Plan {
  const plan = makePlan(seed, { payments: numberOf(options.payments, 100), fault: options.fault });
  const { 'only-payments': payments, 'only-faults': faults } = options;
  return {
    ...plan,
    ...(payments !== undefined && {
      payments: plan.payments.filter(({ number }) => isListed(payments, number)),
    }),
    ...(faults !== undefined && { faults: plan.faults.filter((_, index) => isListed(faults, index)) }),
  };
}

/** What is new among the violations, and which known faults explain the others. */
function sortOut(violations: readonly Violation[], plan: Plan): { fresh: Violation[]; names: string[] } {
  const fresh = violations.filter((each) => explain(each, plan) === null);
  const names = new Set(violations.flatMap((each) => explain(each, plan)?.name ?? []));
  return { fresh, names: [...names].toSorted() };
}

function seedLine(seed: number, { digest, simulatedMs, events, charges, posts }: SimulationResult): string {
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  return `seed ${seed}  ${digest}  ${hours} h, ${events} events, ${charges} charges, ${posts} callbacks`;
}

/** Prints what was found and how to replay it; with a server, also the smallest plan that shows it. */
async function explainFailure(
  seed: number,
  plan: Plan,
  fresh: readonly Violation[],
  { server, fault }: { server: PostgresServer | null; fault: string | undefined },
): Promise<void> {
  print('\nNot known:');
  for (const { invariant, about, text } of fresh)
    print(`  ${invariant} (${meaningOf(invariant)})\n    ${about}: ${text}`);
  const replay = `${commandOf(seed, plan.payments.length, fault)} --history`;
  if (!server) return print(`To replay it: ${replay}`);
  const invariant = fresh[0]?.invariant;
  const stillFails = async (candidate: Plan) =>
    sortOut((await simulate(candidate, server)).violations, candidate).fresh.some(
      (each) => each.invariant === invariant,
    );
  print('\nShrinking it …');
  const small = await shrink(plan, stillFails, shrinkTries);
  const { lines } = await simulate(small, server);
  print(lines.join('\n'));
  print(`\nTo replay it: ${replay}`);
  print(`Smaller: ${onlyOf(seed, plan, small, fault)}`);
}

const commandOf = (seed: number, payments: number, fault: string | undefined) =>
  `npm run simulate -- --seed ${seed} --payments ${payments}${fault === undefined ? '' : ` --fault ${fault}`}`;

function onlyOf(seed: number, plan: Plan, small: Plan, fault: string | undefined): string {
  const payments = small.payments.map(({ number }) => number).join(',');
  const faults = plan.faults
    .flatMap((fault, index) => (small.faults.includes(fault) ? [index] : []))
    .join(',');
  return `${commandOf(seed, plan.payments.length, fault)} --only-payments ${payments || 'none'} --only-faults ${faults || 'none'} --history`;
}

/** Shrinks a plan to what a known fault needs, and keeps it. */
async function keep(name: string, plan: Plan, server: PostgresServer): Promise<void> {
  const finds = async (candidate: Plan) =>
    (await simulate(candidate, server)).violations.some((each) => explain(each, candidate)?.name === name);
  const small = await shrink(plan, finds, shrinkTries);
  writeFileSync(fileOf(name), `${JSON.stringify(small, null, 2)}\n`);
  print(`kept the plan of ${name}: ${small.payments.length} payments, ${small.faults.length} faults`);
}

async function replayKnown(name: string, options: Options): Promise<number> {
  const plan = keptPlan(name);
  const server = await startPostgresServer();
  const { violations, lines, digest } = await simulate(plan, server).finally(server.stop);
  if (options.history) print(lines.join('\n'));
  // Nothing explains what a mutant does.
  const found = violations.filter((each) => (explain(each, plan)?.name ?? name) === name);
  print(`${name}  ${digest}  ${found.length > 0 ? 'found' : 'not found'}`);
  for (const { invariant, about, text } of found) print(`  ${invariant}: ${about}: ${text}`);
  return found.length > 0 ? 0 : 1;
}

const keptPlan = (name: string): Plan => JSON.parse(readFileSync(fileOf(name), 'utf8'));

const fileOf = (name: string) => fileURLToPath(new URL(`./known-faults/${name}.json`, import.meta.url));

const isListed = (list: string, number: number): boolean => list.split(',').includes(String(number));

function numberOf(text: string | undefined, fallback: number): number {
  return text === undefined ? fallback : Number(text);
}
