/** Keeps a child process running for as long as this process lives: started, awaited, restarted, stopped. */
import { fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { StartError } from './start-error.ts';

export type ChildLog = Pick<Logger, 'debug' | 'info' | 'error'>;

export type SupervisedChild = {
  /** SIGTERM, and SIGKILL for the child and its own children when 15 s were not enough. */
  stop(): Promise<void>;
};

type ChildSpec = {
  /** For the log and for errors, e.g. `PostgreSQL`. */
  name: string;
  /** The module it runs, under this process's own Node. */
  modulePath: string;
  args: readonly string[];
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
  log: ChildLog;
};

type Run = {
  pid: number | undefined;
  kill(signal: NodeJS.Signals): void;
  /** True once the child says it is ready, false when it ended without. */
  ready: Promise<boolean>;
  /** Says how it ended, with its last lines on stderr. */
  ended: Promise<string>;
};

const startAttempts = 5;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A child that lived this long had started well: its death is a new fault, not one more of a series. */
const steadyAfterMs = 10_000;
const stopLimitMs = 15_000;
const linesToldAtDeath = 20;

/**
 * Starts a child and resolves when it is ready, which it says over IPC: `process.send({ ready: … })`. From then
 * on a child that ends unasked is started again with the same arguments, after a pause that grows from 0.1 to 5 s.
 * Its stdout is ours; `process.send({ notice: 'text' })` is logged at info, its stderr at debug.
 *
 * The child must end itself when its IPC channel disconnects: this process may be killed without a word.
 *
 * @throws StartError when 5 attempts ended before the child was ready the first time
 */
export async function superviseChild(spec: ChildSpec): Promise<SupervisedChild> {
  const { name, log } = spec;
  const stopping = new AbortController();
  const firstReady = Promise.withResolvers<void>();
  let current = launch(spec);

  async function keepRunning(): Promise<void> {
    let wasReady = false;
    let faults = 0;
    while (true) {
      const startedAt = performance.now();
      if (await current.ready) {
        wasReady = true;
        firstReady.resolve();
      }
      const ending = await current.ended;
      if (stopping.signal.aborted) return;
      faults = wasReady && performance.now() - startedAt > steadyAfterMs ? 1 : faults + 1;
      if (!wasReady && faults === startAttempts) {
        firstReady.reject(new StartError(`${name} does not start: ${ending}`));
        return;
      }
      const pauseMs = Math.min(firstPauseMs * 2 ** (faults - 1), longestPauseMs);
      log.error({ child: name, ending, pauseMs }, `${name} ended and is started again`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      current = launch(spec);
    }
  }

  const supervision = keepRunning();
  await firstReady.promise;
  return {
    async stop() {
      stopping.abort();
      current.kill('SIGTERM');
      const timeLimit = setTimeout(() => killGroup(current.pid), stopLimitMs);
      await supervision;
      clearTimeout(timeLimit);
    },
  };
}

function launch({ name, modulePath, args, nodeOptions = [], log }: ChildSpec): Run {
  const child = fork(modulePath, args, {
    execArgv: [...process.execArgv, ...nodeOptions],
    // A process group of its own: Ctrl-C in the terminal must reach this process alone, which stops its
    // children when it has drained, and not before.
    detached: true,
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const lastLines: string[] = [];
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line === '') return;
      log.debug({ child: name }, line);
      lastLines.push(line);
      if (lastLines.length > linesToldAtDeath) lastLines.shift();
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve([signal ?? `exit code ${code}`, ...lastLines].join('\n')));
  });
  const ready = new Promise<boolean>((resolve) => {
    child.on('message', (message: { ready?: unknown; notice?: unknown }) => {
      if (message.ready !== undefined) resolve(true);
      if (message.notice !== undefined) log.info({ child: name }, String(message.notice));
    });
    void ended.then(() => resolve(false));
  });
  return { pid: child.pid, kill: (signal) => void child.kill(signal), ready, ended };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
