/** Hears at once of deliveries that are due. What it misses while Postgres is away, the reactors find by looking. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { dueChannel } from '../projections/deliveries/table.ts';

const retryMs = 1_000;

/** Calls `onDue` at every announcement, and whenever the connection is made anew, until it is stopped. */
export function listenForNotifications({
  databaseUrl,
  onDue,
  log,
}: {
  databaseUrl: string;
  onDue: () => void;
  log: Logger;
}): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'ledger due deliveries',
      connectionTimeoutMillis: 2_000,
      query_timeout: 10_000,
      keepAlive: true,
    });
    const ended = Promise.withResolvers<void>();
    // Also told by whatever is awaited at the time; alone it must not count as unhandled.
    ended.promise.catch(() => {});
    client.on('error', ended.reject);
    client.on('end', ended.resolve);
    client.on('notification', onDue);
    const leave = () => ended.resolve();
    signal.addEventListener('abort', leave);
    try {
      await client.connect();
      await client.query(`listen ${dueChannel}`);
      onDue();
      await ended.promise;
    } finally {
      signal.removeEventListener('abort', leave);
      // No goodbye, for which a frozen server would keep us waiting.
      client.connection.stream.destroy();
    }
  }

  async function keepListening(): Promise<void> {
    while (!signal.aborted) {
      try {
        await listen();
      } catch (error) {
        log.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'not hearing of due deliveries',
        );
      }
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }

  const listening = keepListening();
  return {
    stop() {
      stopping.abort();
      return listening;
    },
  };
}
