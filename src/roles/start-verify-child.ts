/** Runs `ledger verify --record` in a process of its own with low priority, since it takes minutes of a whole core. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const modulePath = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Resolves when the process has ended; what it found is in `last_check`. When the signal aborts, it goes on next time. */
export async function verifyInProcess(signal: AbortSignal): Promise<void> {
  // Its report is for terminals. What kept it from verifying comes on standard error.
  const child = fork(modulePath, ['verify', '--record'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const interrupt = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  await ended.finally(() => signal.removeEventListener('abort', interrupt));
}
