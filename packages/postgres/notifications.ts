/** Listens on a channel of PostgreSQL. What is announced while the connection is down is missed: listeners poll as well. */
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { createClient } from './pool.ts';
import { quoteIdentifier } from './table.ts';

const retryMs = 1_000;
const heartbeatMs = 10_000;

/** Until it is stopped, calls `onNotification` with each payload, and with null after each new connection. */
export function listenForNotifications(dependencies: {
  databaseUrl: string;
  channel: string;
  onNotification: (payload: string | null) => void;
  log: Log;
  runtime: Runtime;
}): Background {
  const { databaseUrl, channel, onNotification, log, runtime } = dependencies;
  const warn = warnSeldom(log, runtime);
  async function listen(signal: AbortSignal): Promise<void> {
    const client = createClient(databaseUrl, `ledger ${channel}`);
    const lost = new AbortController();
    client.on('error', (error) => lost.abort(error));
    client.on('notification', ({ payload = '' }) => onNotification(payload));
    const over = AbortSignal.any([signal, lost.signal]);
    // Does not end the session first, because a frozen server would keep us waiting.
    const cut = () => void client.connection.stream.destroy();
    over.addEventListener('abort', cut);
    try {
      await client.connect();
      await client.query(`listen ${quoteIdentifier(channel)}`);
      onNotification(null);
      while (!over.aborted) {
        await runtime.sleep(heartbeatMs, over);
        // Asks, because a server that is lost behind a proxy would never be heard of again.
        if (!over.aborted) await client.query('select 1');
      }
      lost.signal.throwIfAborted();
    } finally {
      // Otherwise the connection would stay in memory for as long as `signal` has not aborted.
      over.removeEventListener('abort', cut);
      cut();
    }
  }

  const pace = { runtime, firstMs: retryMs, longestMs: retryMs };
  const onFailure = (error: unknown) =>
    warn({ reason: reasonOf(error), channel }, 'not listening for notifications');
  return runUntilStopped(
    (signal) => retry(() => listen(signal), { ...pace, signal, onFailure }).catch(() => {}), // rejects only on abort
  );
}
