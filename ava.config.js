// Tests start hundreds of processes of the program: what Node compiles of it is kept from one to the next.
import { fileURLToPath } from 'node:url';

const compiled = fileURLToPath(new URL('node_modules/.cache/compiled/', import.meta.url));

// biome-ignore lint/style/noDefaultExport: what ava reads
export default {
  extensions: ['ts'],
  files: ['test/**/*.test.ts'],
  timeout: '2m',
  workerThreads: false,
  concurrency: 2,
  environmentVariables: { NODE_COMPILE_CACHE: compiled },
};
