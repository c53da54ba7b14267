/** `npm run simulate`: plays plans made from seeds, until one fails in a way that is not known. */
import { parseArgs } from 'node:util';
import { installNodeApi } from './engine/node-api.ts';

// One thread: the order in which files are read is then always the same.
process.env.UV_THREADPOOL_SIZE = '1';
installNodeApi();
const { run } = await import('./run.ts');

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    payments: { type: 'string' },
    history: { type: 'boolean' },
    all: { type: 'boolean' },
  },
});
process.exitCode = await run(values);
process.exit();
