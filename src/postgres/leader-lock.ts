/**
 * One process at a time does a piece of work; the others stand by. The lock belongs to a Postgres session, so it is free
 * again as soon as its holder dies. It only saves work: the checkpoint guards what must never happen twice.
 */
import type { Client } from 'pg';
import type { Runtime } from '../kernel/runtime.ts';
import { createClient } from './pool.ts';

const retryMs = 1_000;
const closeWithinMs = 1_000;

export type LeaderLock = {
  databaseUrl: string;
  name: string;
  signal: AbortSignal;
  runtime: Pick<Runtime, 'sleep'>;
};

/**
 * Waits until this process leads `name`, then runs `work`, whose signal aborts when the lock is lost or `signal` aborts.
 * Resolves when the work is done or `signal` aborts first; throws what `work` throws, and the connection's error when the
 * lock could not be taken or was lost.
 */
export async function withLeaderLock(
  lock: LeaderLock,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<void> {
  await runLocked(lock, takeLock, work);
}

/** As `withLeaderLock`, but resolves to false at once while another process leads, and to true when the work is done. */
export async function tryWithLeaderLock(
  lock: LeaderLock,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<boolean> {
  return await runLocked(lock, tryLock, work);
}

async function runLocked(
  lock: LeaderLock,
  take: (client: Client, lock: LeaderLock) => Promise<boolean>,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const { databaseUrl, name, signal, runtime } = lock;
  const client = createClient(databaseUrl, `ledger leader ${name}`);
  const lost = new AbortController();
  client.on('error', (error) => lost.abort(error));
  client.on('end', () => lost.abort(new Error(`The connection that held the lock on ${name} has ended`)));
  try {
    await client.connect();
    if (!(await take(client, lock))) return false;
    await work(AbortSignal.any([signal, lost.signal]));
    lost.signal.throwIfAborted();
    return true;
  } finally {
    // A frozen server never confirms the end of a connection: it must not keep this function or the process waiting.
    const closed = new AbortController();
    await Promise.race([client.end(), runtime.sleep(closeWithinMs, closed.signal)]);
    closed.abort();
    client.connection.stream.destroy();
  }
}

/** Resolves to false when the signal aborts first. Polls, because a query that waits would hold back vacuum. */
async function takeLock(client: Client, lock: LeaderLock): Promise<boolean> {
  const { signal, runtime } = lock;
  while (!signal.aborted) {
    if (await tryLock(client, lock)) return true;
    await runtime.sleep(retryMs, signal);
  }
  return false;
}

async function tryLock(client: Client, { name }: LeaderLock): Promise<boolean> {
  const { rows } = await client.query<{ leads: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
    [`projection ${name}`],
  );
  return rows[0]?.leads === true;
}
