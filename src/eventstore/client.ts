/** Connects to EventStoreDB. Its client is used nowhere else, and every way in which it fails is met here. */
import { EventStoreDBClient } from '@eventstore/db-client';
import { createAppend } from './append.ts';
import { createAppendChannel } from './append-channel.ts';
import { withDeadline } from './deadline.ts';
import { type EventStore, EventStoreUnavailable } from './event-store.ts';
import type { Log } from './log.ts';
import { createReads } from './read.ts';
import { first, follow } from './subscription.ts';

/**
 * `url` is an esdb:// connection string. A call to the store may take `callDeadlineMs`; an append is looked
 * up and sent again until `giveUpAfterMs` before it counts as unavailable. Connects when first used, so a
 * store that is down makes calls fail, not this.
 *
 * Only one connection per process can append at a time (see append-channel.ts).
 */
export function connectEventStore({
  url,
  log,
  callDeadlineMs = 4000,
  giveUpAfterMs = 12_000,
}: {
  url: string;
  log: Log;
  callDeadlineMs?: number;
  giveUpAfterMs?: number;
}): EventStore {
  const closing = new AbortController();
  const appending = new Set<Promise<unknown>>();
  const connect = () => EventStoreDBClient.connectionString(withSettings(url));
  const readClient = connect();
  const lookClient = connect();
  const { signal } = closing;
  const reads = createReads({ client: readClient, deadlineMs: callDeadlineMs, signal });
  const channel = createAppendChannel({ connect, deadlineMs: callDeadlineMs, log });
  const append = createAppend({ channel, load: reads.load, giveUpAfterMs, signal });
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
      return follow({ ...options, signal: untilClosed }, { client: connect(), log });
    },

    firstAfter(options) {
      const untilClosed = AbortSignal.any([options.signal, signal]);
      return first({ ...options, signal: untilClosed }, lookClient);
    },

    async close() {
      closed = true;
      await withDeadline(Promise.allSettled(appending), callDeadlineMs).catch(() => {}); // cut off below
      closing.abort(new EventStoreUnavailable('The connection to the event store is closed'));
      await Promise.all([
        channel.close(),
        withDeadline(readClient.dispose(), callDeadlineMs).catch(() => {}),
      ]);
    },
  };
}

/**
 * A frozen server is noticed by keep-alive pings only. The client warns on the console below 10 s between
 * two pings, but has no say in how long one may take: 3 s, so a subscription notices after 13 s instead of 20.
 * The settings that come first can be overridden by the URL's own, the last one cannot.
 */
function withSettings(url: string): string {
  const [address = '', settings] = url.split('?', 2);
  const own = settings ? `&${settings}` : '';
  return `${address}?keepAliveInterval=10000&keepAliveTimeout=3000${own}&throwOnAppendFailure=true`;
}
