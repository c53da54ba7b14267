/**
 * One process at a time does a piece of work; the others stand by. The lock belongs to a Postgres session, so it is
 * released as soon as its holder dies. A holder that stands still, stopped or frozen, cannot ask for anything: Postgres
 * then ends its session. It only saves work: the checkpoint is what prevents processing twice.
 */
import type { Runtime } from '../kernel/runtime.ts';
import { type Client, createClient } from './pool.ts';

const retryMs = 1_000;
const heartbeatMs = 5_000;
const deadAfterMs = 20_000;
const yieldMs = 2 * retryMs;
const closeWithinMs = 1_000;

export type LeaderLock = {
  databaseUrl: string;
  name: string;
  signal: AbortSignal;
  runtime: Pick<Runtime, 'sleep'>;
  /** Whether to wait while another process leads; true by default. */
  waits?: boolean;
};

/**
 * Runs `work` once this process leads `name`; its signal aborts when the lock is lost or `signal` aborts. Resolves to true
 * when the work is done, and to false without it: when `signal` aborts first, or another process leads and this one does
 * not wait. Throws what `work` throws, and the connection's error when the lock could not be taken or was lost.
 */
export async function withLeaderLock(
  { databaseUrl, name, signal, runtime, waits = true }: LeaderLock,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const client = createClient(databaseUrl, `ledger leader ${name}`, deadAfterMs);
  const lost = new AbortController();
  let hasFailed = false;
  client.on('error', (error) => lost.abort(error));
  client.on('end', () => lost.abort(new Error(`The connection that held the lock on ${name} has ended`)));
  try {
    await client.connect();
    // Polls, because a query that waits would hold back vacuum.
    while (!(waits && signal.aborted)) {
      const { rows } = await client.query<{ leads: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
        [`projection ${name}`],
      );
      if (rows[0]?.leads) {
        const beating = new AbortController();
        const heart = keepAlive(client, beating.signal, runtime).catch((error) => lost.abort(error));
        await work(AbortSignal.any([signal, lost.signal])).finally(() => beating.abort());
        await heart;
        lost.signal.throwIfAborted();
        return true;
      }
      if (!waits) break;
      await runtime.sleep(retryMs, signal);
    }
    return false;
  } catch (error) {
    hasFailed = !lost.signal.aborted;
    throw error;
  } finally {
    // A frozen server never confirms the end of a connection: it must not keep this function or the process waiting.
    const closed = new AbortController();
    await Promise.race([client.end(), runtime.sleep(closeWithinMs, closed.signal)]);
    closed.abort();
    client.connection.stream.destroy();
    // Whoever could not do the work lets those who stand by try it first.
    if (hasFailed && waits) await runtime.sleep(yieldMs, signal);
  }
}

/** Rejects when the session has ended. */
async function keepAlive(client: Client, signal: AbortSignal, runtime: LeaderLock['runtime']): Promise<void> {
  while (!signal.aborted) {
    await client.query('select 1');
    await runtime.sleep(heartbeatMs, signal);
  }
}
