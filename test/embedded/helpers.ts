/** Shared by the tests of the embedded stores: temporary folders, processes to kill, and a connection. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import type { Owner } from '../support/whole-file.ts';

/** A folder of the test's own, or of the whole file, deleted at its end. */
export async function temporaryFolder(t: Owner): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-embedded-'));
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** Longer than anything takes that happens. Without it a test that waits in vain would only be seen to be missing. */
export const patienceMs = 180_000;

/**
 * Waits for something that another process does, looking ever more seldom, but every `mostMs`, and pausing for as long as
 * a look took, up to a second: a command that looks keeps a core from what it waits for.
 *
 * @throws Error after three minutes
 */
export async function until<T>(
  look: () => T | false | undefined | Promise<T | false | undefined>,
  mostMs = 100,
): Promise<T> {
  const inVain = new Error('waited for three minutes in vain');
  const endMs = performance.now() + patienceMs;
  for (let pauseMs = 10; performance.now() < endMs; pauseMs = Math.min(pauseMs * 1.25, mostMs)) {
    const beganMs = performance.now();
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(Math.max(pauseMs, Math.min(performance.now() - beganMs, 1_000)));
  }
  throw inVain;
}

/** Starts the stand-in for `ledger serve` on a data folder; the test may kill it. */
export function spawnLedger(
  t: ExecutionContext,
  dataDir: string,
  account: { uid?: number; gid?: number } = {},
): ChildProcess {
  const modulePath = fileURLToPath(new URL('./ledger-stand-in.ts', import.meta.url));
  const ledger = fork(modulePath, [dataDir], { ...account, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  t.teardown(() => stopLedger(ledger));
  return ledger;
}

/** The connection string, when PostgreSQL is ready. */
export async function urlOf(ledger: ChildProcess): Promise<string> {
  let complaint = '';
  ledger.stderr?.on('data', (chunk) => {
    complaint += chunk;
  });
  const message = await Promise.race([once(ledger, 'message'), once(ledger, 'close')]);
  if (typeof message[0]?.url === 'string') return message[0].url;
  throw new Error(complaint);
}

export async function stopLedger(ledger: ChildProcess): Promise<void> {
  if (ledger.exitCode !== null || ledger.signalCode !== null) return;
  const exited = once(ledger, 'exit');
  ledger.kill('SIGTERM');
  await exited;
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // Told by the query's own rejection; without a listener it would end the test process too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Whether a process is still running; a zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** To the postmaster of a data folder and to all its children. */
export async function signalPostgres(dataDir: string, name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const { postmaster } = await postgresPids(dataDir);
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' });
  for (const pid of [postmaster, ...children.trim().split(/\s+/).map(Number)]) {
    try {
      process.kill(pid, name);
    } catch {
      // That session has ended since.
    }
  }
}

/** The postmaster of a data folder, and the guard that is its parent. Linux only, as /proc is. */
export async function postgresPids(dataDir: string): Promise<{ postmaster: number; guard: number }> {
  const postmaster = Number.parseInt(
    await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'),
    10,
  );
  const status = await readFile(`/proc/${postmaster}/status`, 'utf8');
  return { postmaster, guard: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]) };
}
