/**
 * Work that takes minutes of a whole core, as commands in processes of their own with low priority: requested rebuilds and
 * the daily verification. In this process it would hold up everything else on the event loop.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { LeadNow } from '@ledger/postgres/leader-election.ts';
import { isUnderWay, RebuildInterrupted } from '@ledger/projections/rebuild/rebuild.ts';

/**
 * Runs `ledger rebuild --requested` for the projection `name`, unless a rebuild of it is under way. Resolves when the process
 * has ended; what came of it is in the projection's stream. When the signal aborts, the next process continues. Throws
 * RebuildInterrupted, and the database's own error.
 */
export async function rebuildInProcess(lock: LeadNow): Promise<void> {
  // Checking here is cheaper than starting a process that finds it out.
  if (await isUnderWay(lock)) return;
  const [code, killedBy] = await run(['rebuild', '--requested', lock.name], lock.signal);
  if (code !== 0)
    throw new RebuildInterrupted(`The process of the rebuild ended with ${killedBy ?? `exit code ${code}`}`);
}

/**
 * Runs `ledger verify --record`. Resolves when the process has ended; what it found is in `last_verify`. When the signal
 * aborts, it continues next time.
 */
export async function verifyInProcess(signal: AbortSignal): Promise<void> {
  await run(['verify', '--record'], signal);
}

/** Longer than a batch takes. Whatever they do may be cut off at any moment. */
const patienceMs = 10_000;

/**
 * Resolves to the exit code or the signal that has ended the process. When the signal aborts, it is asked to end, and killed
 * if it does not: it may wait for a database that is frozen.
 */
async function run(args: readonly string[], signal: AbortSignal): Promise<unknown[]> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  // Their reports are for terminals. What kept them from their work comes on standard error.
  const child = fork(main, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  // With the lowest priority, its connections would time out on a busy machine.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
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
