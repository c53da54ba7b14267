// What all tests share: one PostgreSQL, started when the first test asks for it, a folder for temporary files, in memory
// where there is room, and what Node compiles of the program, kept from one process to the next.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));

const postgres = fork(fileOf('test/support/postgres-server.ts'));
postgres.once('exit', () => {
  process.stderr.write('The PostgreSQL of the tests has ended.\n');
  process.exit(1);
});
const [{ port, temporary }] = await once(postgres, 'message');
postgres.unref();
postgres.channel.unref();

// A process that a test left behind can hold the output of its test file, which would keep ava from ending.
setInterval(() => {
  if (process.exitCode === undefined) return;
  process.stderr.write('A process that a test started still runs.\n');
  process.exit();
}, 10_000).unref();

// Of what comes from that cache, V8 does not tell exactly what was run.
const cache = process.env.NODE_V8_COVERAGE
  ? { NODE_DISABLE_COMPILE_CACHE: '1' }
  : { NODE_COMPILE_CACHE: fileOf('node_modules/.cache/compiled/') };

// biome-ignore lint/style/noDefaultExport: what ava reads
export default {
  extensions: ['ts'],
  // What test/support/run.ts writes imports files that are run by themselves otherwise.
  files: ['test/**/*.test.ts', ...(process.env.TESTS_SHARE ? [] : ['!test/shared/**'])],
  require: ['./test/support/property-seed.ts'],
  timeout: '2m',
  workerThreads: false,
  // A test file makes much garbage in a short life: collecting it seldom, on one thread, takes a tenth less. Most of its
  // code runs too seldom to be optimized: compiling each function simply, at its first call, takes a twentieth less.
  nodeArguments: [
    '--always-sparkplug',
    '--single-threaded-gc',
    '--min-semi-space-size=32',
    '--max-semi-space-size=64',
  ],
  concurrency: 2,
  environmentVariables: { ...cache, TEST_POSTGRES_PORT: String(port), TMPDIR: temporary },
};
