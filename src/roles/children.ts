/**
 * Work that takes minutes of a whole core, in processes of its own with low priority: requested rebuilds and the daily
 * verification. In this process it would hold up everything else on the event loop.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { isUnderWay, RebuildInterrupted, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import type { Config } from '../config/config.ts';
import { type RebuildTask, underWayExitCode } from './rebuild-task.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/**
 * Resolves when the request has ended, whether the rebuild succeeded or not. When the signal aborts, waits for the
 * process to end. Throws RebuildUnderWay, RebuildInterrupted, and the database's own error.
 */
export async function rebuildInProcess(
  projection: string,
  { config, log, runtime, signal }: { config: Config; log: Log; runtime: Runtime; signal: AbortSignal },
): Promise<void> {
  const { esdbUrl, databaseUrl, dataKeys, logLevel } = config;
  // Checking here is cheaper than starting a process that finds it out.
  const underWay = () => new RebuildUnderWay(`A rebuild of ${projection} is already running`);
  if (await isUnderWay({ name: projection, databaseUrl, runtime, signal })) throw underWay();
  const child = fork(pathOf('./rebuild-child.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = endOf(child, signal);
  child.send({ projection, esdbUrl, databaseUrl, dataKeys, logLevel } satisfies RebuildTask, (error) => {
    if (error)
      log.warn({ projection, reason: error.message }, 'the process of a rebuild did not get its task');
  });
  const [code, killedBy] = await ended;
  if (code === underWayExitCode) throw underWay();
  if (code !== 0)
    throw new RebuildInterrupted(`The process of the rebuild ended with ${killedBy ?? `exit code ${code}`}`);
}

/**
 * Runs `ledger verify --record`. Resolves when the process has ended; what it found is in `last_verify`. When the signal
 * aborts, it continues next time.
 */
export async function verifyInProcess(signal: AbortSignal): Promise<void> {
  // Its report is for terminals. What kept it from verifying comes on standard error.
  const child = fork(pathOf('../main.ts'), ['verify', '--record'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // With the lowest priority, its connections would time out on a busy machine.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  await endOf(child, signal);
}

/** Longer than a batch takes. Whatever they do may be cut off at any moment. */
const patienceMs = 10_000;

/**
 * Resolves to the exit code or the signal that has ended a process. When the signal aborts, the process is asked to end,
 * and killed if it does not: it may wait for a database that is frozen.
 */
async function endOf(child: ChildProcess, signal: AbortSignal): Promise<unknown[]> {
  const ended = once(child, 'exit');
  let cancelTimer = () => {};
  const interrupt = () => {
    child.kill('SIGTERM');
    cancelTimer = systemRuntime.setTimer(patienceMs, () => child.kill('SIGKILL'));
  };
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return await ended.finally(() => {
    signal.removeEventListener('abort', interrupt);
    cancelTimer();
  });
}
