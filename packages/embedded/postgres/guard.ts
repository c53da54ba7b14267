/**
 * The process between the ledger and PostgreSQL: `node guard.ts <data folder> <port>`. It runs PostgreSQL as its child,
 * and stops it on SIGTERM or when the ledger is gone (the IPC channel closes), which PostgreSQL would not notice. It
 * ends when PostgreSQL ends.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openCluster, spawnPostmaster } from './cluster.ts';
import { clearLeftoverPostmaster, stopPostmaster } from './postmaster.ts';

const pollMs = 25;

async function guard(dataDir: string, port: number, stop: AbortSignal): Promise<number> {
  const cluster = await openCluster(dataDir, stop);
  await clearLeftoverPostmaster(cluster.pgData);
  stop.throwIfAborted();

  const postmaster = spawnPostmaster(cluster, port);
  const { pid } = postmaster;
  const isRunning = () => pid !== undefined && postmaster.exitCode === null && postmaster.signalCode === null;
  postmaster.stderr?.pipe(process.stderr, { end: false });
  stop.addEventListener('abort', () => {
    if (pid !== undefined) void stopPostmaster(pid, isRunning);
  });
  const url = `postgres://ledger:${cluster.password}@127.0.0.1:${port}/ledger`;
  try {
    const [[exitCode]] = await Promise.all([once(postmaster, 'exit'), tellWhenReady(url, isRunning)]);
    return exitCode ?? 1;
  } finally {
    if (pid !== undefined) await stopPostmaster(pid, isRunning);
  }
}

async function tellWhenReady(url: string, isRunning: () => boolean): Promise<void> {
  while (!(await accepts(url))) {
    if (!isRunning()) return;
    await sleep(pollMs);
  }
  process.send?.({ ready: true }, undefined, undefined, ignoreGone);
}

/** @throws an error that waiting does not resolve: the password, role or database is not that of the cluster */
async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, ssl: false, connectionTimeoutMillis: 1_000 });
  // If the postmaster dies while this is connected, its exit is handled elsewhere.
  client.on('error', ignoreGone);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '')) throw error;
    return false;
  }
}

/** Errors of writing to the ledger are ignored: when the ledger is gone, the guard must live on to stop PostgreSQL. */
function ignoreGone(): void {}

const [dataDir, port] = process.argv.slice(2);
if (dataDir === undefined || port === undefined) throw new Error('usage: node guard.ts <data folder> <port>');
process.stderr.on('error', ignoreGone);

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
process.on('disconnect', () => stop.abort());
// The ledger may have ended before the listener was added.
if (!process.connected) stop.abort();

try {
  process.exitCode = await guard(dataDir, Number(port), stop.signal);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
