/** `npm run simulate`: content/docs/simulation.md. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { installNodeApi } from './engine/node-api.ts';

// One thread: files are then always read and written in the same order.
process.env.UV_THREADPOOL_SIZE = '1';
// Before anything else is imported: libraries may keep what they import from Node.
installNodeApi();

// An ordinary end, in which PostgreSQL is stopped too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const usage = `Usage: npm run simulate -- [options]
  --seed N             the first seed (default 1)
  --seeds N            how many seeds (default 1)
  --minutes N          as many seeds as this time allows
  --jobs N             how many processes (default: as many as there are cores)
  --all                go on after a failure
  --payments N         how many payments each seed has (default 100)
  --fault KIND         a kind of fault that every seed has
  --history            print all that happened
  --known PLAN         replay a plan of known-faults/
  --keep               keep the plans of known faults that have none
  --mutants            see whether every mutant is found
  --mutant NAME        see whether this one is; with --seed or --known, replay it
  --only-payments A,B  --only-faults A,B   parts of the plan of a seed
content/docs/simulation.md says what each is for.`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  seed: text,
  seeds: text,
  minutes: text,
  jobs: text,
  all: flag,
  payments: text,
  fault: text,
  known: text,
  mutant: text,
  mutants: flag,
  'only-payments': text,
  'only-faults': text,
  history: flag,
  keep: flag,
  help: flag,
};

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n\n${usage}\n`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

const { help, mutants: isAll, ...values } = readOptions();
if (help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
for (const name of ['seed', 'seeds', 'minutes', 'jobs', 'payments'] as const)
  if (!Number.isFinite(Number(values[name] ?? 0))) refuse(`--${name} takes a number`);
const { mutant: name } = values;
const { mutants } = await import('./mutant-list.ts');
const { installMutant, mutantNamed } = await import('./mutants.ts');
const mutant = name === undefined ? null : mutantNamed(name);
if (mutant) installMutant(mutant);
const { faultNames } = await import('./plan.ts');
if (values.fault !== undefined && !faultNames.includes(values.fault))
  refuse(`There is no fault ${values.fault}. There are: ${faultNames.join(', ')}`);
const { hunt, run } = await import('./run.ts');
// One seed of a mutant can be replayed like any other.
if (mutant && values.seed === undefined && values.known === undefined) process.exit(await hunt(mutant));
if (!isAll) process.exit(await run(values));

// The program is imported once in a process: each mutant needs one of its own.
let notFound = 0;
for (const each of Object.keys(mutants)) {
  const args = [...process.execArgv, process.argv[1] ?? '', '--mutant', each];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) notFound += 1;
}
process.exit(notFound);
