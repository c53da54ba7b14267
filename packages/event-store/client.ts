/** Connects to EventStoreDB. Only this folder uses its client and knows how it fails. */
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { sharedAnswer } from '@ledger/kernel/shared-answer.ts';
import { onceAMinute } from '@ledger/kernel/warn-seldom.ts';
import { createAppend } from './append.ts';
import { createConnection } from './connection.ts';
import { createDeadline } from './deadline.ts';
import { type EventStore, EventStoreFull, EventStoreUnavailable } from './event-store.ts';
import { closeClient, createClient } from './new-client.ts';
import { createReads, readEnd } from './read.ts';
import { confirmAbsence, readMembers } from './stream-absence.ts';
import { eventsAfter, subscribe } from './subscription.ts';

/** How long the disk counts as full after an append that found it so: only another append shows what is so now. */
const fullForMs = 60_000;
/** Many callers, such as an import, may ask at once for streams that do not exist. The nodes seldom change. */
const membersFreshMs = 100;

/**
 * `url` is an esdb:// connection string. A call to the store may take `callDeadlineMs`, after which another node is
 * looked for. Once nothing has succeeded for `giveUpAfterMs`, the store counts as unavailable and calls fail at once, until
 * it answers again. Connects when first used, so a store that is down makes calls fail, but not this function. Over 70
 * lines: it puts the parts together, and they share their deadlines and their end.
 */
export function connectEventStore(dependencies: {
  url: string;
  log: Pick<Log, 'info' | 'warn'>;
  runtime: Runtime;
  callDeadlineMs?: number;
  giveUpAfterMs?: number;
}): EventStore {
  const { url, log, runtime, callDeadlineMs = 2_500, giveUpAfterMs = 5_000 } = dependencies;
  const closing = new AbortController();
  const { signal } = closing;
  const appending = new Set<Promise<unknown>>();
  const withinDeadline = createDeadline(runtime, callDeadlineMs);

  const settled = withSettings(url);

  /** The event store; or one node of it, whatever it believes of itself. */
  function open(node: string | null = null) {
    const requiresLeader = node === null;
    const connection = createConnection({
      what: node === null ? 'The event store' : `Node ${node} of the event store`,
      connect: () => createClient(node === null ? settled : withHosts(settled, node)),
      look: (client) => readEnd(client, requiresLeader),
      deadlineMs: callDeadlineMs,
      awayAfterMs: giveUpAfterMs,
      runtime,
      log,
    });
    const reads = createReads({
      connection,
      requiresLeader,
      giveUpAfterMs: 2 * callDeadlineMs,
      runtime,
      signal,
    });
    return { connection, reads };
  }

  const lookClient = createClient(settled);
  const { connection, reads: leader } = open();
  const nodes = new Map<string, ReturnType<typeof open>>();
  const readsOf = (address: string) => {
    const node = nodes.get(address) ?? open(address);
    nodes.set(address, node);
    return node.reads;
  };
  async function findMembers(): Promise<string[]> {
    const addresses = await connection.use(({ client }) => readMembers(client));
    // One that has left the cluster would be looked for every second until this process ends.
    for (const [address, node] of nodes) {
      if (addresses.includes(address)) continue;
      nodes.delete(address);
      node.connection.close();
    }
    return addresses;
  }
  const members = sharedAnswer(findMembers, membersFreshMs, runtime);
  const reads = isCluster(url) ? confirmAbsence({ leader, members, readsOf, runtime }) : leader;
  const append = createAppend({
    attempt: (encoded) => connection.use(({ appends }) => appends.send(encoded)),
    attemptMs: callDeadlineMs,
    whyAway: connection.whyAway,
    load: reads.load,
    giveUpAfterMs,
    runtime,
    signal,
  });
  const after = (options: Parameters<EventStore['firstAfter']>[0], limit: number) =>
    eventsAfter({ ...options, signal: AbortSignal.any([options.signal, signal]) }, limit, {
      client: lookClient,
      runtime,
    });
  let closed = false;
  let fullAtMs: number | null = null;

  return {
    ...reads,

    async append(...args) {
      if (closed) throw new EventStoreUnavailable('The connection to the event store is closed');
      const appended = append(...args);
      appending.add(appended);
      try {
        const stored = await appended;
        fullAtMs = null;
        return stored;
      } catch (error) {
        if (error instanceof EventStoreFull) fullAtMs = runtime.monotonicMs();
        throw error;
      } finally {
        appending.delete(appended);
      }
    },

    isDiskFull: () => fullAtMs !== null && runtime.monotonicMs() - fullAtMs < fullForMs,

    subscribe: createSubscribe({ url, runtime, log, signal }),

    async firstAfter(options) {
      return (await after(options, 1))[0] ?? null;
    },

    eventsAfter: after,

    async close() {
      closed = true;
      await withinDeadline(Promise.allSettled(appending)).catch(() => {}); // the rest is interrupted below
      closing.abort(new EventStoreUnavailable('The connection to the event store is closed'));
      connection.close();
      closeClient(lookClient);
      for (const node of nodes.values()) node.connection.close();
    },
  };
}

const keepAliveTimeoutMs = 3_000;
/** How many differ in their settings, and so have connections of their own. */
const mostSubscriptions = 1_000;

/** Each subscription has a client of its own. All end when the signal aborts. */
function createSubscribe(dependencies: {
  url: string;
  runtime: Runtime;
  log: Pick<Log, 'info' | 'warn'>;
  signal: AbortSignal;
}): EventStore['subscribe'] {
  const { url, runtime, log, signal } = dependencies;
  const isNew = onceAMinute(runtime);
  let subscriptions = 0;
  return async function* (options) {
    const untilClosed = AbortSignal.any([options.signal, signal]);
    subscriptions = (subscriptions + 1) % mostSubscriptions;
    const client = createClient(withSettings(url, keepAliveTimeoutMs + subscriptions));
    try {
      yield* subscribe({ ...options, signal: untilClosed }, { client, runtime, log, isNew });
    } finally {
      closeClient(client);
    }
  };
}

/**
 * A subscription notices a frozen server by keep-alive pings only. The client warns on the console about less than 10 s
 * between two pings, but not about how long one may take: 3 s, so it notices after 13 s instead of 20. Clients with the
 * same settings share a connection, in which one subscription that is behind gets nearly all of it: of four, the last got
 * 0.4 % of what the first did. Each therefore has a setting that differs by a millisecond. Discovery asks one member
 * after another: a frozen one may cost a second. The URL can override these settings.
 */
function withSettings(url: string, timeoutMs = keepAliveTimeoutMs): string {
  const [address = '', settings] = url.split('?', 2);
  const own = settings ? `&${settings}` : '';
  return `${address}?keepAliveInterval=10000&keepAliveTimeout=${timeoutMs}&gossipTimeout=1&maxDiscoverAttempts=3${own}`;
}

/** Whether there may be more than one node. */
function isCluster(url: string): boolean {
  return url.startsWith('esdb+discover:') || (url.split('?', 1)[0] ?? '').includes(',');
}

/** The same URL for one node. */
function withHosts(url: string, hosts: string): string {
  return url.replace(
    /^esdb(?:\+discover)?:\/\/([^/?]*@)?[^/?]*/,
    (_, credentials = '') => `esdb://${credentials}${hosts}`,
  );
}
