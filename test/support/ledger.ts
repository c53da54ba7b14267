/** The program as operators run it: `ledger <arguments>` in a process of its own. */
import { type ChildProcessWithoutNullStreams, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { wholeProcess } from './whole-file.ts';

const ownFolder = fileURLToPath(new URL('../..', import.meta.url));

export type Environment = Readonly<Record<string, string>>;

/** What any command needs to run on these stores. Nobody answers at the other addresses. */
export function settingsFor({ esdbUrl, databaseUrl }: { esdbUrl: string; databaseUrl: string }): Environment {
  return {
    ESDB_URL: esdbUrl,
    DATABASE_URL: databaseUrl,
    TRANSACTION_ID_KEY: 'a key of the tests',
    DATA_KEY: Buffer.from('a data key of the tests, 32 byte').toString('base64'),
    GATEWAY_URL: 'http://127.0.0.1:9',
    GATEWAY_SECRET: 'a gateway secret of the tests',
    REGISTRY_URL: 'http://127.0.0.1:9',
    REGISTRY_TOKEN: 'a registry token of the tests',
  };
}

type Options = {
  cwd?: string;
  nodeOptions?: readonly string[];
  /** Where the program is, if it is another release, whose first file may be another. */
  program?: string;
  /** Whether it holds an IPC channel, by whose end a role notices that this process is gone. */
  channel?: boolean;
};

/** Options of Node with which the clock of the process says that it is this time, and stands still. */
export const clockAt = (time: string): readonly string[] => [
  '--import',
  `data:text/javascript,
    const { Date } = globalThis;
    globalThis.Date = class extends Date {
      constructor(...given) { super(...(given.length > 0 ? given : ['${time}'])); }
      static now() { return Date.parse('${time}'); }
    };`,
];

/** As ava.config.js has them for test files, and for the same reason. */
const rareCollections = ['--single-threaded-gc', '--min-semi-space-size=32', '--max-semi-space-size=64'];

/** Starts `ledger <args>`. Of this process's variables it gets only those that find programs and compiled code. */
export function spawnLedger(
  args: readonly string[],
  environment: Environment,
  { nodeOptions = rareCollections, channel = false, program = ownFolder, cwd = program }: Options = {},
): ChildProcessWithoutNullStreams {
  const { PATH, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const entry = join(program, program === ownFolder ? 'src/ledger.js' : 'src/main.ts');
  return spawn(process.execPath, [...nodeOptions, entry, ...args], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, ...environment },
    stdio: ['pipe', 'pipe', 'pipe', ...(channel ? (['ipc'] as const) : [])],
  }) as ChildProcessWithoutNullStreams;
}

export type Ended = {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Both, in the order in which they came. */
  output: string;
};

/**
 * Runs `ledger <args>` to its end. Commands that end by themselves share one process of the test file and run one after
 * another; a role, and a command with options of a process, has a process of its own.
 */
export async function runLedger(
  args: readonly string[],
  environment: Environment,
  options?: Options,
): Promise<Ended> {
  if (options || ownProcess.has(args[0] ?? ''))
    return await runToEnd(spawnLedger(args, environment, options));
  runner ??= startRunner();
  const { run } = runner;
  const ended = queue.then(() => run({ args, environment }));
  queue = ended.catch(() => undefined);
  return await ended;
}

const ownProcess = new Set(['serve', 'http', 'projections', 'reactors', 'eventstore']);

async function runToEnd(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const { stdout, stderr } = child;
  let output = '';
  for (const stream of [stdout, stderr]) stream.on('data', (chunk) => (output += chunk));
  const [[code], printed, complaints] = await Promise.all([once(child, 'close'), text(stdout), text(stderr)]);
  return { code, stdout: printed, stderr: complaints, output };
}

export type LedgerCall = { args: readonly string[]; environment: Environment };
/** On both outputs of the shared process, after what a command printed. */
const endOfOutput = '␄';

let runner: ReturnType<typeof startRunner> | undefined;
let queue: Promise<unknown> = Promise.resolve();

/** The process that runs the commands of this file, see ledger-runner.ts. */
function startRunner() {
  const script = fileURLToPath(new URL('./ledger-runner.ts', import.meta.url));
  const child = fork(script, [endOfOutput], { silent: true });
  const exited = once(child, 'exit').then(() => Promise.reject(new Error('The runner of commands ended')));
  exited.catch(() => undefined);
  // It ends by itself: a command that left something open would keep the test file from ending.
  wholeProcess.teardown(() => child.disconnect());
  const run = async (call: LedgerCall): Promise<Ended> => {
    const printed = { stdout: '', stderr: '', output: '' };
    const ends = (['stdout', 'stderr'] as const).map(
      (name) =>
        new Promise<void>((resolve) => {
          const take = (chunk: string) => {
            const isEnd = chunk.endsWith(endOfOutput);
            const said = isEnd ? chunk.slice(0, -endOfOutput.length) : chunk;
            printed[name] += said;
            printed.output += said;
            if (!isEnd) return;
            child[name]?.off('data', take);
            resolve();
          };
          child[name]?.setEncoding('utf8').on('data', take);
        }),
    );
    const answered = once(child, 'message');
    child.send(call);
    const [[code]] = await Promise.race([Promise.all([answered, ...ends]), exited]);
    return { code, ...printed };
  };
  return { run };
}
