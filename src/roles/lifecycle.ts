/**
 * How a long-running command runs and stops. Without an import of a store's client: the embedded event store needs none,
 * which saves 14 MB and 0.15 s of CPU at its start.
 */
import { once } from 'node:events';
import { endNow, isDiskAwaited } from '@ledger/kernel/end-process.ts';
import type { Log } from '@ledger/kernel/log.ts';
import { stateOfFiles } from '@ledger/kernel/readable-file.ts';
import { runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { Config } from '../config/config.ts';
import { reloadConfig } from '../config/reload.ts';

/** EX_CONFIG of sysexits.h: starting again does not help. */
export const configurationExitCode = 78;
/** EX_SOFTWARE. */
const uncaughtExitCode = 70;
const lookAtFilesEveryMs = 1_000;
const passedOnWithinMs = 1_000;
const stopsWithinMs = 15_000;

/** Something that runs and can be stopped; `stop` lets work that has begun finish. */
export type Running = { stop(): Promise<void> };

/** One line for each insecure setting that ALLOW_INSECURE makes production accept. */
export function warnOfExceptions({ exceptions }: Pick<Config, 'exceptions'>, log: Pick<Log, 'warn'>): void {
  for (const [insecurity, faults] of exceptions)
    log.warn({ insecurity, faults }, 'production runs with an insecure setting that ALLOW_INSECURE names');
}

/**
 * The same lines, and one for a process for development that others may reach: it signs results for whoever asks, and
 * needs no second person.
 */
export function warnOfRisks(
  { baseUrl, exceptions, host, production }: Pick<Config, 'baseUrl' | 'exceptions' | 'host' | 'production'>,
  log: Pick<Log, 'warn'>,
): void {
  warnOfExceptions({ exceptions }, log);
  const isReached = baseUrl.startsWith('https:') || !['127.0.0.1', '::1', 'localhost'].includes(host);
  if (isReached && !production)
    log.warn('this process runs for development and others may reach it: NODE_ENV is not production');
}

/**
 * Adopts merchants and secrets as `load` reads them when a file changes, and on SIGHUP; on a terminal, that signal says
 * that its window was closed, and ends the program.
 */
export function followFiles(config: Config, load: () => Config, log: Log): Running {
  const reload = () => reloadConfig(config, load, log);
  if (!process.stdout.isTTY) process.on('SIGHUP', reload);
  return runUntilStopped(async (signal) => {
    let loaded = '';
    let seen = '';
    for (; !signal.aborted; await systemRuntime.sleep(lookAtFilesEveryMs, signal)) {
      const state = await stateOfFiles(config.files);
      loaded ||= state;
      // Between two looks nothing was written: what has changed is whole, and what changed with it has arrived.
      if (state !== loaded && state === seen) {
        // Before the load: a file that is named there for the first time counts as changed, and all are loaded once more.
        loaded = state;
        reload();
      }
      seen = state;
    }
    process.off('SIGHUP', reload);
  });
}

/**
 * Calls `stop` when a signal comes; the same signal more than a second later ends the process with `exitCode`.
 * Within that second, npm or npx may pass on what has reached this process, too: then `stop` is only called again.
 */
export function onSignals(
  signals: readonly NodeJS.Signals[],
  { stop, exitCode }: { stop(signal: NodeJS.Signals): void; exitCode: number },
): void {
  for (const signal of signals) {
    let passedOnUntilMs = Number.POSITIVE_INFINITY;
    process.on(signal, () => {
      const nowMs = systemRuntime.monotonicMs();
      if (nowMs > passedOnUntilMs) endNow(exitCode);
      passedOnUntilMs = Math.min(passedOnUntilMs, nowMs + passedOnWithinMs);
      stop(signal);
    });
  }
}

/** Takes each part as soon as it runs, to be stopped when the process ends, and gives it back. */
export type Started = <Part extends Running>(part: Part) => Part;

/**
 * Runs until SIGTERM or SIGINT, also during the start, then stops what has been started, the last first, and resolves to
 * exit code 0. A second signal ends the process immediately. A process that was forked also stops when its parent ends.
 */
export async function runUntilSignal(log: Log, start: (started: Started) => Promise<void>): Promise<number> {
  const stop = new AbortController();
  onSignals(['SIGTERM', 'SIGINT'], { stop: (signal) => stop.abort(signal), exitCode: 1 });
  const orphaned = () => stop.abort('the parent process ended');
  endOnUncaught(log);
  // This signal must not end the process before files are followed, nor in a role that follows none.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => {});
  if (process.connected) process.once('disconnect', orphaned);
  else if (process.send) orphaned();
  const running: Running[] = [];
  const started: Started = (part) => {
    running.push(part);
    stop.signal.throwIfAborted();
    return part;
  };
  try {
    await start(started).catch((error) => {
      if (!stop.signal.aborted) throw error;
    });
    if (!stop.signal.aborted) {
      log.info('started');
      await once(stop.signal, 'abort');
    }
    log.info({ reason: stop.signal.reason }, 'stopping');
  } finally {
    // Even after a failed start: connections, and the channel to the parent, would keep the process from ending.
    await stopAndWaitForDisk(running, log);
  }
  log.info('stopped');
  return 0;
}

/** Ends the process if a disk does not answer in time, because a write that has begun would keep it running. */
async function stopAndWaitForDisk(running: readonly Running[], log: Log): Promise<void> {
  setTimeout(() => {
    if (!isDiskAwaited()) return;
    log.warn('a disk does not answer: the process ends without waiting for it');
    endNow(1);
  }, stopsWithinMs).unref();
  try {
    await stopAll(running).finally(() => process.connected && process.disconnect());
  } finally {
    while (isDiskAwaited()) await systemRuntime.sleep(100);
  }
}

/** The effects of an uncaught error are unknown: the process ends, and its supervisor starts another. */
function endOnUncaught(log: Log): void {
  process.on('uncaughtException', (err, origin) => {
    const isConfiguration = err instanceof ConfigError;
    if (isConfiguration) log.fatal({ faults: err.faults }, 'the configuration is invalid: the process ends');
    else log.fatal({ err, origin }, 'an error was not caught: the process ends');
    endNow(isConfiguration ? configurationExitCode : uncaughtExitCode);
  });
}

/** Throws an error where nobody catches it, so that the process ends. Callers never get a result. */
export const endProcess = (runtime: Pick<Runtime, 'setTimer'>) => (error: unknown) =>
  new Promise<never>(() =>
    runtime.setTimer(0, () => {
      throw error;
    }),
  );

/** Stops in reverse order. If one fails to stop, the others are still stopped, then the first failure is thrown. */
export async function stopAll(started: readonly Running[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of started.toReversed()) await each.stop().catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
