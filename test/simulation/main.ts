/** `npm run simulate`: content/docs/simulation.md. */
import { parseArgs } from 'node:util';
import { installNodeApi } from './engine/node-api.ts';

// One thread: files are then always read and written in the same order.
process.env.UV_THREADPOOL_SIZE = '1';
// Before anything else is imported: libraries may keep what they import from Node.
installNodeApi();
const { run } = await import('./run.ts');

// An ordinary end, in which PostgreSQL is stopped too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    seed: text,
    seeds: text,
    minutes: text,
    payments: text,
    fault: text,
    known: text,
    'only-payments': text,
    'only-faults': text,
    history: { type: 'boolean' },
    keep: { type: 'boolean' },
  },
});
process.exit(await run(values));
