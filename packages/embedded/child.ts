/** Starts a child process, restarts it when it ends unexpectedly, and stops it. */
import { fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@ledger/kernel/log.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { StartError } from './start-error.ts';

export type ChildLog = Pick<Log, 'debug' | 'info' | 'error'>;

type ChildSpec = {
  /** For the log and for errors, e.g. `PostgreSQL`. */
  name: string;
  /** The module to run, with the Node version of this process. */
  modulePath: string;
  args: readonly string[];
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
  log: ChildLog;
};

const startAttempts = 5;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** When a child that ran for longer than this ends, it counts as the first failure again. */
const steadyAfterMs = 10_000;
const stopLimitMs = 15_000;
const keptStderrLines = 20;

/**
 * Starts a child and resolves when it reports over IPC that it is ready: `process.send({ ready: … })`. After that, a
 * child that ends unexpectedly is started again with the same arguments, after a pause that grows from 0.1 to 5 s.
 * The child inherits stdout; its stderr is logged at debug, and `process.send({ notice: 'text' })` at info.
 *
 * The child must end by itself when its IPC channel disconnects, because this process may be killed at any moment.
 *
 * @throws StartError after 5 attempts that ended before the child was ready for the first time
 */
export async function superviseChild(spec: ChildSpec) {
  const { name, log } = spec;
  const stopping = new AbortController();
  const firstReady = Promise.withResolvers<void>();
  let current = launch(spec);

  async function keepRunning(): Promise<void> {
    let wasReady = false;
    let failures = 0;
    while (true) {
      const startedAt = performance.now();
      if (await current.ready) {
        wasReady = true;
        firstReady.resolve();
      }
      const ending = await current.ended;
      if (stopping.signal.aborted) return;
      failures = wasReady && performance.now() - startedAt > steadyAfterMs ? 1 : failures + 1;
      if (!wasReady && failures === startAttempts) {
        firstReady.reject(new StartError(`${name} does not start: ${ending}`));
        return;
      }
      const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      log.error({ child: name, ending, pauseMs }, `${name} ended and is started again`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      current = launch(spec);
    }
  }

  const supervision = keepRunning();
  await firstReady.promise;
  return {
    /** Sends SIGTERM; after 15 s SIGKILL, to the child and its own children. */
    async stop(): Promise<void> {
      stopping.abort();
      const { child } = current;
      const { pid } = child;
      child.kill('SIGTERM');
      // It may have ended already.
      const kill = () => pid !== undefined && orElse(() => process.kill(-pid, 'SIGKILL'), false);
      const timeLimit = setTimeout(kill, stopLimitMs);
      await supervision;
      clearTimeout(timeLimit);
    },
  };
}

function launch({ name, modulePath, args, nodeOptions = [], log }: ChildSpec) {
  const child = fork(modulePath, args, {
    execArgv: [...process.execArgv, ...nodeOptions],
    // In its own process group, so that Ctrl-C in the terminal does not reach the child: this process stops it after
    // it has finished its own work.
    detached: true,
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const lastLines: string[] = [];
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line === '') return;
      log.debug({ child: name }, line);
      lastLines.push(line);
      if (lastLines.length > keptStderrLines) lastLines.shift();
    });
  }
  /** How the child ended, with its last lines on stderr. */
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve([signal ?? `exit code ${code}`, ...lastLines].join('\n')));
  });
  /** True once the child reports that it is ready, false if it ends before that. */
  const ready = new Promise<boolean>((resolve) => {
    child.on('message', (message: { ready?: unknown; notice?: unknown }) => {
      if (message.ready !== undefined) resolve(true);
      if (message.notice !== undefined) log.info({ child: name }, String(message.notice));
    });
    void ended.then(() => resolve(false));
  });
  return { child, ready, ended };
}
