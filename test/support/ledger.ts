/** The program as operators run it: `ledger <arguments>` in a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

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
  /** Whether it holds an IPC channel, by whose end a role notices that this process is gone. */
  channel?: boolean;
};

/** Starts `ledger <args>`. Of this process's variables it gets only those that find programs and compiled code. */
export function spawnLedger(
  args: readonly string[],
  environment: Environment,
  { nodeOptions = [], channel = false, cwd = process.cwd() }: Options = {},
): ChildProcessWithoutNullStreams {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [...nodeOptions, main, ...args], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, ...environment },
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

/** Runs `ledger <args>` to its end. */
export async function runLedger(
  args: readonly string[],
  environment: Environment,
  options: Options = {},
): Promise<Ended> {
  const child = spawnLedger(args, environment, options);
  const { stdout, stderr } = child;
  let output = '';
  for (const stream of [stdout, stderr]) stream.on('data', (chunk) => (output += chunk));
  const [[code], printed, complaints] = await Promise.all([once(child, 'close'), text(stdout), text(stderr)]);
  return { code, stdout: printed, stderr: complaints, output };
}
