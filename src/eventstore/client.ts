/** Connects to EventStoreDB. Only this folder uses its client and knows how it fails. */
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Log } from '../kernel/log.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { createAppend } from './append.ts';
import { createAppendChannel } from './append-channel.ts';
import { createDeadline } from './deadline.ts';
import { type EventStore, EventStoreUnavailable } from './event-store.ts';
import { createReads } from './read.ts';
import { firstAfter, subscribe } from './subscription.ts';

/**
 * `url` is an esdb:// connection string. A call to the store may take `callDeadlineMs`; an append is looked
 * up and sent again until `giveUpAfterMs` before it counts as unavailable. Connects when first used, so a
 * store that is down makes calls fail, but not this function.
 *
 * Only one connection per process can append at a time (see append-channel.ts).
 */
export function connectEventStore({
  url,
  log,
  runtime,
  callDeadlineMs = 4000,
  giveUpAfterMs = 12_000,
}: {
  url: string;
  log: Pick<Log, 'info' | 'warn'>;
  runtime: Runtime;
  callDeadlineMs?: number;
  giveUpAfterMs?: number;
}): EventStore {
  const closing = new AbortController();
  const appending = new Set<Promise<unknown>>();
  const connect = () => EventStoreDBClient.connectionString(withSettings(url));
  const readClient = connect();
  const lookClient = connect();
  const { signal } = closing;
  const withinDeadline = createDeadline(runtime, callDeadlineMs);
  const reads = createReads({ client: readClient, deadlineMs: callDeadlineMs, runtime, signal });
  const channel = createAppendChannel({ connect, withinDeadline, runtime, log });
  const append = createAppend({ channel, load: reads.load, giveUpAfterMs, runtime, signal });
  let closed = false;

  return {
    ...reads,

    async append(streamName, events, expected) {
      if (closed) throw new EventStoreUnavailable('The connection to the event store is closed');
      const appended = append(streamName, events, expected);
      appending.add(appended);
      return await appended.finally(() => appending.delete(appended));
    },

    subscribe(options) {
      const untilClosed = AbortSignal.any([options.signal, signal]);
      return subscribe({ ...options, signal: untilClosed }, { client: connect(), runtime, log });
    },

    firstAfter(options) {
      const untilClosed = AbortSignal.any([options.signal, signal]);
      return firstAfter({ ...options, signal: untilClosed }, { client: lookClient, runtime });
    },

    async close() {
      closed = true;
      await withinDeadline(Promise.allSettled(appending)).catch(() => {}); // the rest is interrupted below
      closing.abort(new EventStoreUnavailable('The connection to the event store is closed'));
      await Promise.all([channel.close(), withinDeadline(readClient.dispose()).catch(() => {})]);
    },
  };
}

/**
 * Only keep-alive pings notice a frozen server. The client warns on the console about less than 10 s between two pings,
 * but not about how long one may take: 3 s, so a subscription notices after 13 s instead of 20. The URL can override
 * the settings that come first, but not the last one.
 */
function withSettings(url: string): string {
  const [address = '', settings] = url.split('?', 2);
  const own = settings ? `&${settings}` : '';
  return `${address}?keepAliveInterval=10000&keepAliveTimeout=3000${own}&throwOnAppendFailure=true`;
}
