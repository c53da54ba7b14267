/**
 * The only way in which events leave this process. All appends share one gRPC stream, and the client keeps pending
 * appends in a table global to the process: an error on one such stream rejects the appends of every other, and their
 * late answers then throw where nobody can catch. So there is never more than one stream: after a failure its client is
 * disposed of, with everything pending on it, before the next one is made. (A new client is needed anyway, because the
 * old one may have cached a failure for good.)
 */
import type { AppendResult, EventData, EventStoreDBClient } from '@eventstore/db-client';
import type { Log } from '../kernel/log.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { WithinDeadline } from './deadline.ts';
import { describe, isAnswer } from './errors.ts';
import type { ExpectedRevision } from './event-store.ts';

/** The channel of each process that may append. A process has one runtime; only a simulator has several in this one. */
const owners = new WeakMap<object, symbol>();

export type AppendChannel = ReturnType<typeof createAppendChannel>;

/** `connect` makes a client. */
export function createAppendChannel({
  connect,
  withinDeadline,
  runtime,
  log,
}: {
  connect: () => EventStoreDBClient;
  withinDeadline: WithinDeadline;
  runtime: Pick<Runtime, 'yieldToIo'>;
  log: Pick<Log, 'info' | 'warn'>;
}) {
  const self = Symbol('append channel');
  let client: EventStoreDBClient | undefined;
  let replacing: Promise<void> | undefined;
  let healthy = true;
  const pending = new Set<Promise<unknown>>();

  /** One attempt at an append. Throws what the client throws, or DeadlineExceeded. */
  async function send(
    streamName: string,
    events: EventData[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    while (replacing !== undefined) await replacing;
    client ??= connect();
    const used = client;
    const expectedRevision = expected === 'no_stream' ? expected : BigInt(expected);
    const answer = withinDeadline(used.appendToStream(streamName, events, { expectedRevision }));
    pending.add(answer);
    try {
      const result = await answer;
      if (!healthy) log.info({}, 'Event store takes appends again');
      healthy = true;
      return result;
    } catch (error) {
      if (!isAnswer(error) && used === client) replacing ??= replace(used, error);
      throw error;
    } finally {
      pending.delete(answer);
    }
  }

  async function replace(broken: EventStoreDBClient, reason: unknown): Promise<void> {
    if (healthy)
      log.warn({ reason: describe(reason), pending: pending.size }, 'Event store takes no appends');
    healthy = false;
    await retire(broken);
    client = undefined;
    replacing = undefined;
  }

  /** Waits for the client's streams to end, within the deadline, as every append waits for this. */
  async function dispose(broken: EventStoreDBClient): Promise<void> {
    await withinDeadline(broken.dispose()).catch(() => {});
  }

  async function retire(broken: EventStoreDBClient): Promise<void> {
    await runtime.yieldToIo(); // appends just handed to the client have not joined its stream yet
    await dispose(broken);
    await Promise.allSettled(pending);
    await dispose(broken); // an append that waited for the server's capabilities may have opened another
  }

  return {
    send,

    /** To be called before any `send`. Throws when another connection of this process has not been closed. */
    claim(): void {
      if (!owners.has(runtime)) owners.set(runtime, self);
      if (owners.get(runtime) !== self)
        throw new Error('Another event store connection of this process is appending');
    },

    /** Interrupts what is pending; its outcome is then unknown. */
    async close(): Promise<void> {
      while (replacing !== undefined) await replacing;
      if (client) await retire(client);
      client = undefined;
      if (owners.get(runtime) === self) owners.delete(runtime);
    },
  };
}
