/** Connections to PostgreSQL: every wait is limited, so that a server that is down or frozen shows as an error. */
import type { Log } from '@ledger/kernel/log.ts';
import createKnex, { type Knex } from 'knex';
import pg from 'pg';

const int8 = 20;

/** All connections of this process that have not ended. */
const connections = new Set<pg.Client>();

function remember(client: pg.Client): void {
  connections.add(client);
  client.once('end', () => connections.delete(client));
}

/**
 * Cuts all connections of this process if the server takes no new one within 2 s, so that nothing waits any longer for what
 * a frozen server will not answer. For a process that stops.
 */
export async function cutIfFrozen(url: string): Promise<void> {
  const asking = createClient(url, 'ledger stops');
  asking.on('error', () => {});
  try {
    await asking.connect();
    await asking.end();
  } catch (error) {
    if (error instanceof pg.DatabaseError) return;
    for (const { connection } of connections) connection.stream.destroy();
  }
}

/**
 * A pool of connections; nothing is connected until the first query. A query fails within 2 s when the server is down,
 * and 5 s after `longestQueryMs` when it stopped answering; for less, add `.timeout(ms)` to the query.
 */
export function connectPostgres(dependencies: {
  url: string;
  log: Log;
  longestQueryMs?: number;
  /** Plans use indexes even while a table is small: those of prepared statements are kept while it grows. */
  keepsPlans?: boolean;
}): Knex {
  const { url, log, longestQueryMs = 25_000, keepsPlans = false } = dependencies;
  return createKnex({
    client: 'pg',
    connection: {
      connectionString: url,
      types: { getTypeParser: (oid) => (oid === int8 ? safeInteger : pg.types.getTypeParser(oid)) },
      application_name: 'ledger',
      // The driver reads times in this style only, and an account or a database may have another.
      options: `-c datestyle=ISO${keepsPlans ? ' -c enable_seqscan=off' : ''}`,
      // One connection may have nothing to do for hours, and the network must not have forgotten it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 60_000,
      connectionTimeoutMillis: 2_000,
      // The server's own limit comes first and leaves a usable connection; the client's is for a frozen server.
      statement_timeout: longestQueryMs,
      query_timeout: longestQueryMs + 5_000,
      // Frees the locks of a process that froze in the middle of a transaction.
      idle_in_transaction_session_timeout: 10_000,
    },
    // After a burst, all connections but one end once they are idle.
    pool: {
      min: 1,
      max: 10,
      idleTimeoutMillis: 5_000,
      validate: isIdle,
      afterCreate(client: pg.Client, done: (error: null, client: pg.Client) => void) {
        remember(client);
        // Otherwise a statement that waits for a lock keeps its session for `longestQueryMs`, although its query has timed
        // out and the connection was closed, and such sessions use up max_connections. Servers on Windows refuse this setting.
        const isReady = () => done(null, client);
        client.query('set client_connection_check_interval = 1000').then(isReady, isReady);
      },
    },
    acquireConnectionTimeout: 3_000,
    // Otherwise the message of a failed query would hold its values, and with them personal data.
    compileSqlOnError: false,
    log: {
      warn(message) {
        // The query that waits for a connection, or uses it, rejects with it; an outage would write several lines a second.
        if (!/^(Acquire connection error|Connection Error)/.test(String(message))) log.warn(message);
      },
      error: (message) => log.error(message),
      deprecate: (message) => log.warn(message),
      debug: (message) => log.debug(message),
    },
  });
}

/** A connection whose last query timed out may still be busy, or left in a transaction. */
function isIdle(connection: { readyForQuery: boolean; getTransactionStatus(): string | null }): boolean {
  return connection.readyForQuery && connection.getTransactionStatus() === 'I';
}

/** bigint columns and counts as numbers; a value that a number cannot hold exactly throws. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${text} is past the safe integers: select it as text`);
  return value;
}

export type Client = pg.Client;

/**
 * One connection for what belongs to a session: locks and notifications. Either side notices within 25 s that the other's
 * machine has vanished; with `idleMs` the server also ends the session of a process that asks for nothing for so long.
 */
export function createClient(databaseUrl: string, name: string, idleMs = 0): Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: name,
    connectionTimeoutMillis: 2_000,
    // The same parameters as in a pool: `unsuitability` finds out whether a pooler in between takes them.
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 10_000,
    query_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: `-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c idle_session_timeout=${idleMs}`,
  });
  remember(client);
  return client;
}
