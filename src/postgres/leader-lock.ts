/**
 * One process at a time does a piece of work; the others stand by. The lock belongs to a Postgres session, so it is
 * released as soon as its holder dies. It only saves work: the checkpoint is what prevents processing twice.
 */
import type { Runtime } from '../kernel/runtime.ts';
import { createClient } from './pool.ts';

const retryMs = 1_000;
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
  const client = createClient(databaseUrl, `ledger leader ${name}`);
  const lost = new AbortController();
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
        await work(AbortSignal.any([signal, lost.signal]));
        lost.signal.throwIfAborted();
        return true;
      }
      if (!waits) break;
      await runtime.sleep(retryMs, signal);
    }
    return false;
  } finally {
    // A frozen server never confirms the end of a connection: it must not keep this function or the process waiting.
    const closed = new AbortController();
    await Promise.race([client.end(), runtime.sleep(closeWithinMs, closed.signal)]);
    closed.abort();
    client.connection.stream.destroy();
  }
}
