/** Stops postmasters: the guard's own, and one that a crash left running. */
import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { orElse } from '@ledger/kernel/or-else.ts';

const run = promisify(execFile);

/** A fast shutdown, then an immediate one (the next start recovers from the log), then SIGKILL. */
const escalation = [
  { signal: 'SIGINT', patienceMs: 5_000 },
  { signal: 'SIGQUIT', patienceMs: 2_000 },
  { signal: 'SIGKILL', patienceMs: 2_000 },
] as const;
const pollMs = 20;

/** Stops a postmaster and resolves when `isRunning` reports that it is gone. */
export async function stopPostmaster(
  pid: number,
  isRunning: () => boolean | Promise<boolean>,
): Promise<void> {
  for (const { signal, patienceMs } of escalation) {
    if (!(await isRunning())) return;
    // It may have ended in the meantime.
    orElse(() => process.kill(pid, signal), false);
    const until = performance.now() + patienceMs;
    while (performance.now() < until && (await isRunning())) await sleep(pollMs);
  }
}

/**
 * Prepares a cluster for a new postmaster: stops one that outlived its guard, and removes a stale pid file. If another
 * process has that pid now, PostgreSQL would take it for a running server.
 */
export async function clearLeftoverPostmaster(pgData: string): Promise<void> {
  const pidFile = join(pgData, 'postmaster.pid');
  const pid = await readPid(pidFile);
  if (pid === undefined) return;
  await stopPostmaster(pid, () => isPostmasterOf(pid, pgData));
  if (!(await isPostmasterOf(pid, pgData))) await rm(pidFile, { force: true });
}

async function readPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 1 ? pid : undefined;
}

/** Whether the process belongs to this cluster: every PostgreSQL process has the data folder as working directory. */
async function isPostmasterOf(pid: number, pgData: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === pgData;
    const { stdout } = await run('ps', ['-p', String(pid), '-o', 'command=']);
    return stdout.includes(`-D ${pgData}`);
  } catch {
    return false;
  }
}
