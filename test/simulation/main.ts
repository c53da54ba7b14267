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

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    seed: text,
    seeds: text,
    minutes: text,
    jobs: text,
    all: { type: 'boolean' },
    payments: text,
    fault: text,
    known: text,
    mutant: text,
    mutants: { type: 'boolean' },
    'only-payments': text,
    'only-faults': text,
    history: { type: 'boolean' },
    keep: { type: 'boolean' },
  },
});
const { mutants: isAll, ...options } = values;
const { mutant: name } = options;
const { mutants } = await import('./mutant-list.ts');
const { installMutant, mutantNamed } = await import('./mutants.ts');
const mutant = name === undefined ? null : mutantNamed(name);
if (mutant) installMutant(mutant);
const { hunt, run } = await import('./run.ts');
// One seed of a mutant can be replayed like any other.
if (mutant && options.seed === undefined && options.known === undefined) process.exit(await hunt(mutant));
if (!isAll) process.exit(await run(options));

// The program is imported once in a process: each mutant needs one of its own.
let notFound = 0;
for (const each of Object.keys(mutants)) {
  const { status } = spawnSync(
    process.execPath,
    [...process.execArgv, process.argv[1] ?? '', '--mutant', each],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) notFound += 1;
}
process.exit(notFound);
