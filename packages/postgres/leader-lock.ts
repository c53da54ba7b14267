/**
 * One process at a time does a piece of work; the others stand by. The lock belongs to a Postgres session, so it is
 * released as soon as its holder dies. A holder that stands still, stopped or frozen, cannot ask for anything: Postgres
 * then ends its session. It only saves work: the checkpoint is what prevents processing twice.
 */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
import { type Client, createClient } from './pool.ts';

const retryMs = 1_000;
const heartbeatMs = 5_000;
const deadAfterMs = 20_000;
const yieldMs = 2 * retryMs;
const closeWithinMs = 1_000;
/** What has failed may fail again: for so long a process that stands by is given no lead, but takes one that is free. */
const doubtMs = 60_000;

export type LeaderLock = {
  databaseUrl: string;
  name: string;
  signal: AbortSignal;
  runtime: Pick<Runtime, 'sleep'>;
  /** Whether to wait while another process leads; true by default. */
  waits?: boolean;
  /** A name of this process, of letters and digits, if its leads are shared with the other processes that have one. */
  process?: string | undefined;
  /** Whether the work has failed in this process, and made no progress since. */
  isInDoubt?: boolean;
};

/** A connection that holds the lock of this name, or waits for it. */
export type LeaderSession = { name: string; process: string; leads: boolean };

/**
 * Whether a process has to give up the lead of `name`: if a process that waits for it leads at least two fewer. Of those
 * that it could give to the process with the fewest, it gives up the first by name, half of the difference. What nobody
 * leads at the moment counts for everyone who waits for it, so that no more is given up than will stay given up.
 */
export function givesUp(
  sessions: readonly LeaderSession[],
  { name, process }: { name: string; process: string },
): boolean {
  const led = new Set(sessions.filter(({ leads }) => leads).map((each) => each.name));
  const waitsFor = (waiting: string, wanted: string) =>
    sessions.some((each) => each.process === waiting && each.name === wanted && !each.leads);
  const leadsOf = (of: string) =>
    sessions.filter((each) => each.process === of && (each.leads || !led.has(each.name))).length;
  const [fewest] = [...new Set(sessions.map((each) => each.process))]
    .filter((each) => each !== process && waitsFor(each, name))
    .toSorted((a, b) => leadsOf(a) - leadsOf(b));
  if (fewest === undefined) return false;
  const mine = sessions.filter((each) => each.process === process && each.leads);
  const before = mine.filter((each) => each.name < name && waitsFor(fewest, each.name)).length;
  return before < Math.floor((mine.length - leadsOf(fewest)) / 2);
}

const findSessions = `
  select split_part(application_name, ' ', 3) as name, split_part(application_name, ' ', 4) as process,
    exists (select from pg_locks where pg_locks.pid = pg_stat_activity.pid and locktype = 'advisory' and granted) as leads
  from pg_stat_activity where datname = current_database() and application_name like 'ledger leader % _%'`;

/** Who leads what, and who stands by. Rejects within a few seconds when Postgres is down. */
export async function leaderSessions(db: Knex): Promise<LeaderSession[]> {
  const { rows } = await db.raw<{ rows: LeaderSession[] }>(findSessions);
  return rows;
}

/**
 * Runs `work` once this process leads `name`; its signal aborts when the lock is lost or `signal` aborts. It also aborts
 * when the lead is given to another process; then the work is begun again when this process leads again. Resolves to what
 * the work does, and to null without it: when `signal` aborts first, or another process leads and this one does not wait.
 * Throws what `work` throws, and the connection's error when the lock could not be taken or was lost.
 */
export async function withLeaderLock<Result>(
  lock: LeaderLock,
  work: (leading: AbortSignal) => Promise<Result>,
): Promise<Result | null> {
  const { databaseUrl, name, signal, runtime, waits = true, process, isInDoubt = false } = lock;
  const sessionName = (shown = '') => `ledger leader ${name} ${shown}`.trim();
  const client = createClient(databaseUrl, sessionName(isInDoubt ? '' : process), deadAfterMs);
  const show = () => client.query(`select set_config('application_name', $1, false)`, [sessionName(process)]);
  const key = [`projection ${name}`];
  const lost = new AbortController();
  let hasFailed = false;
  client.on('error', (error) => lost.abort(error));
  client.on('end', () => lost.abort(new Error(`The connection that held the lock on ${name} has ended`)));
  try {
    await client.connect();
    // Polls, because a query that waits would hold back vacuum.
    for (let waitedMs = 0; !(waits && signal.aborted); waitedMs += retryMs) {
      if (waitedMs === doubtMs) await show();
      const { rows } = await client.query<{ leads: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
        key,
      );
      if (rows[0]?.leads) {
        const { isGiven, result } = await leadOnce(lock, { client, lost, show }, work);
        if (!isGiven) return result;
        await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', key);
        await runtime.sleep(yieldMs, signal);
        continue;
      }
      if (!waits) break;
      await runtime.sleep(retryMs, signal);
    }
    return null;
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

/** Works while this process leads, or has to give up the lead. Aborts `lost` when the lock is lost, and throws its reason. */
async function leadOnce<Result>(
  { name, process, signal, runtime }: LeaderLock,
  { client, lost, show }: { client: Client; lost: AbortController; show(): Promise<unknown> },
  work: (leading: AbortSignal) => Promise<Result>,
): Promise<{ isGiven: boolean; result: Result }> {
  const beating = new AbortController();
  const giving = new AbortController();
  async function keepAlive(): Promise<void> {
    await client.query('select 1');
    for (;;) {
      await runtime.sleep(heartbeatMs, beating.signal);
      if (beating.signal.aborted) return;
      await client.query('select 1');
      if (process === undefined) continue;
      await show();
      const { rows: sessions } = await client.query<LeaderSession>(findSessions);
      if (givesUp(sessions, { name, process })) giving.abort();
    }
  }
  const heart = keepAlive().catch((error) => lost.abort(error));
  const until = AbortSignal.any([signal, lost.signal, giving.signal]);
  const result = await work(until).finally(() => beating.abort());
  await heart;
  lost.signal.throwIfAborted();
  return { isGiven: giving.signal.aborted, result };
}
