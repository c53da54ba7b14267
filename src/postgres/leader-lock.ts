/**
 * One process at a time does a piece of work; the others stand by. The lock belongs to a Postgres session, so
 * it is free again as soon as its holder dies. It only saves work: what must never happen twice is guarded
 * by the checkpoint.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const retryMs = 1_000;
const goodbyeMs = 1_000;

/**
 * Waits until this process leads `name`, then runs `work`, whose signal aborts when the lock is lost or
 * `signal` aborts. Resolves when the work is done or `signal` aborts first; throws what `work` throws, and
 * the connection's error when the lock could not be taken or was lost.
 */
export async function withLeaderLock(
  turn: Turn,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<void> {
  await inTurn(turn, takeTurn, work);
}

/** As `withLeaderLock`, but false at once while another leads; true when the work is done. */
export async function tryWithLeaderLock(
  turn: Turn,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<boolean> {
  return await inTurn(turn, tryTurn, work);
}

type Turn = { databaseUrl: string; name: string; signal: AbortSignal };

/** False when the turn never came. */
async function inTurn(
  { databaseUrl, name, signal }: Turn,
  take: (client: pg.Client, name: string, signal: AbortSignal) => Promise<boolean>,
  work: (leading: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: `ledger leader ${name}`,
    connectionTimeoutMillis: 2_000,
    query_timeout: 10_000,
    keepAlive: true,
    // A leader whose machine vanished without a word loses the lock after 25 s instead of two hours.
    options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
  });
  const lost = new AbortController();
  client.on('error', (error) => lost.abort(error));
  client.on('end', () => lost.abort(new Error(`The connection that held the lock on ${name} has ended`)));
  try {
    await client.connect();
    if (!(await take(client, name, signal))) return false;
    await work(AbortSignal.any([signal, lost.signal]));
    lost.signal.throwIfAborted();
    return true;
  } finally {
    await part(client);
  }
}

/** False when the signal aborted first. Asks again and again: a waiting query would hold back vacuum. */
async function takeTurn(client: pg.Client, name: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await tryTurn(client, name)) return true;
    await sleep(retryMs, undefined, { signal }).catch(() => {});
  }
  return false;
}

async function tryTurn(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ leads: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
    [`projection ${name}`],
  );
  return rows[0]?.leads === true;
}

/** A frozen server never says goodbye: it must keep neither this function nor the process waiting. */
async function part(client: pg.Client): Promise<void> {
  const waited = new AbortController();
  await Promise.race([client.end(), sleep(goodbyeMs, undefined, { signal: waited.signal }).catch(() => {})]);
  waited.abort();
  client.connection.stream.destroy();
}
