/** What is needed of PostgreSQL, checked before a program begins its work. */
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import type { Knex } from 'knex';
import { isPostgresError } from './error-codes.ts';
import { type Client, createClient } from './pool.ts';

const oldestVersion = 16;

/** PostgreSQL cannot be reached or does not answer. Trying again is safe. */
export class PostgresUnavailable extends Error {
  override name = 'PostgresUnavailable';
}

/**
 * Why the database cannot serve, in one sentence; null if it can.
 *
 * @throws PostgresUnavailable while it does not answer
 */
export async function unsuitability(databaseUrl: string, oldest = oldestVersion): Promise<string | null> {
  let client: Client;
  try {
    client = createClient(databaseUrl, 'ledger requirements');
  } catch (error) {
    return `it cannot be used: ${reasonOf(error)}`; // such as a file of certificates that is not there
  }
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number; text: string; pid: number }>(
      `select current_setting('server_version_num')::integer / 10000 as version,
         current_setting('server_version') as text, pg_backend_pid() as pid`,
    );
    const [found] = rows;
    if (found && found.version < oldest)
      return `it is PostgreSQL ${found.text}; version ${oldest} or newer is needed`;
    // Only behind a pooler do the two differ.
    const isPooled = found?.pid !== Reflect.get(client, 'processID');
    if (found && isPooled && (await isShared(databaseUrl, found.pid)))
      return 'it is a pooler in transaction mode; locks and notifications need session mode';
    return null;
  } catch (error) {
    // The client itself refuses to begin without the password that the server asks for.
    const lacksPassword = error instanceof Error && error.message.startsWith('SASL');
    if (/pg_hba\.conf/.test(reasonOf(error)))
      return `PostgreSQL does not let this user in from here: ${reasonOf(error)}`;
    if (lacksPassword || isPostgresError(error, 'invalidPassword', 'invalidAuthorization'))
      return 'PostgreSQL does not accept the user or the password';
    if (isPostgresError(error, 'unknownDatabase')) return 'PostgreSQL has no database of this name';
    if (/unsupported startup parameter|statement pooling/.test(reasonOf(error)))
      return `it is a pooler that refuses what is needed: ${reasonOf(error)}`;
    if (/certificate|not support SSL/.test(reasonOf(error)))
      return `there is no TLS connection to trust: ${reasonOf(error)}`;
    throw new PostgresUnavailable(`PostgreSQL does not answer: ${reasonOf(error)}`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whether the server takes no writes, as a replica that a failover has not promoted. Rejects when it is down. */
export async function isReadOnly(db: Knex): Promise<boolean> {
  const { rows } = await db
    .raw(`select current_setting('transaction_read_only') = 'on' as found`)
    .timeout(2_000);
  return rows[0].found;
}

/** Whether another client gets the session while the first is between two statements. */
async function isShared(databaseUrl: string, pid: number): Promise<boolean> {
  const other = createClient(databaseUrl, 'ledger requirements');
  other.on('error', () => {});
  try {
    await other.connect();
    await other.query('begin');
    const taken = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
    return taken.rows[0]?.pid === pid;
  } finally {
    await other.end().catch(() => {});
  }
}
