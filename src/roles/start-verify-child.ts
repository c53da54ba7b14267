/** Runs `ledger verify --record` in a process of its own with low priority, since it takes minutes of a whole core. */
import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endOf } from './start-rebuild-child.ts';

const modulePath = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Resolves when the process has ended; what it found is in `last_verify`. When the signal aborts, it goes on next time. */
export async function verifyInProcess(signal: AbortSignal): Promise<void> {
  // Its report is for terminals. What kept it from verifying comes on standard error.
  const child = fork(modulePath, ['verify', '--record'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  await endOf(child, signal);
}
