/** Listens on a channel of PostgreSQL. What is announced while the connection is down is missed: listeners poll as well. */
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Logger } from 'pino';
import { createClient } from './pool.ts';
import { quoteIdentifier } from './table.ts';

const retryMs = 1_000;

/** Until it is stopped, calls `onNotification` with each payload, and with null after each new connection. */
export function listenForNotifications(dependencies: {
  databaseUrl: string;
  channel: string;
  onNotification: (payload: string | null) => void;
  log: Logger;
  runtime: Runtime;
}): Background {
  const { databaseUrl, channel, onNotification, log, runtime } = dependencies;
  async function listen(signal: AbortSignal): Promise<void> {
    const client = createClient(databaseUrl, `ledger ${channel}`);
    const ended = Promise.withResolvers<void>();
    // Whatever is being awaited then rejects as well; this promise must not count as unhandled.
    ended.promise.catch(() => {});
    client.on('error', ended.reject);
    client.on('end', () => ended.reject(new Error('The connection ended')));
    client.on('notification', ({ payload = '' }) => onNotification(payload));
    const stop = () => ended.resolve();
    signal.addEventListener('abort', stop);
    try {
      await client.connect();
      await client.query(`listen ${quoteIdentifier(channel)}`);
      onNotification(null);
      await ended.promise;
    } finally {
      signal.removeEventListener('abort', stop);
      // Does not end the session first, because a frozen server would keep us waiting.
      client.connection.stream.destroy();
    }
  }

  const pace = { runtime, firstMs: retryMs, longestMs: retryMs };
  const onFailure = (error: unknown) =>
    log.warn({ reason: reasonOf(error), channel }, 'not listening for notifications');
  return runUntilStopped(
    (signal) => retry(() => listen(signal), { ...pace, signal, onFailure }).catch(() => {}), // rejects only on abort
  );
}
