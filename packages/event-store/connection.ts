/**
 * The connection that reads and appends share. It is given up as a whole when an answer is overdue: the official client
 * looks for another node only when its node refuses or drops the connection, never because a deadline has passed.
 */
import type { EventStoreDBClient } from '@eventstore/db-client';
import { StreamsClient, StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { Log } from '@ledger/kernel/log.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { type AppendCall, createAppendStream } from './append-stream.ts';
import { createDeadline, DeadlineExceeded } from './deadline.ts';
import { describe, isAnswer, isDefinite } from './errors.ts';
import { EventStoreUnavailable } from './event-store.ts';
import { closeClient, hooksOf } from './new-client.ts';

export type Connected = ReturnType<typeof connected>;
export type Connection = ReturnType<typeof createConnection>;

/** Over 70 lines: its calls and what it knows of an outage depend on each other. */
export function createConnection(dependencies: {
  /** Begins the sentences about an outage. */
  what: string;
  /** Makes a client, which connects when it is first used. */
  connect: () => EventStoreDBClient;
  /** Reads anything, to find out whether the store answers. */
  look(client: EventStoreDBClient): Promise<unknown>;
  deadlineMs: number;
  /** Once nothing has succeeded for this long, everything is refused immediately until the store answers again. */
  awayAfterMs: number;
  runtime: Runtime;
  log: Pick<Log, 'info' | 'warn'>;
}) {
  const { what, connect, look, deadlineMs, awayAfterMs, runtime, log } = dependencies;
  const closing = new AbortController();
  const { signal } = closing;
  const withinDeadline = createDeadline(runtime, deadlineMs);
  let current: Connected | undefined;
  /** Since when, by the monotonic clock, and its last failure; null while the store answers. */
  let outage: { sinceMs: number; reason: string } | null = null;

  const whyAway = () =>
    outage && runtime.monotonicMs() - outage.sinceMs >= awayAfterMs
      ? `${what} does not answer: ${outage.reason}`
      : null;

  async function attempt<T>(work: (connected: Connected) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    current ??= connected(connect());
    const used = current;
    try {
      const result = await withinDeadline(work(used));
      recover();
      return result;
    } catch (error) {
      if (isAnswer(error)) recover();
      // A call that this process itself cancelled says nothing about the store.
      else if (!isDefinite(error) && !used.isReleased && !signal.aborted) suspect(error);
      if (error instanceof DeadlineExceeded) {
        if (current === used) current = undefined;
        release(used);
      }
      throw error;
    }
  }

  /** From the first failure on the store is asked until it answers, so that the outage ends without a caller. */
  function suspect(error: unknown): void {
    const reason = describe(error);
    if (outage) {
      outage.reason = reason;
      return;
    }
    outage = { sinceMs: runtime.monotonicMs(), reason };
    log.warn({ reason }, `${what} does not answer`);
    const lookAgain = async () => {
      if (outage) await attempt(({ client }) => look(client));
    };
    retry(lookAgain, { runtime, signal, longestMs: 1_000 }).catch(() => {}); // rejects when the signal aborts
  }

  function recover(): void {
    if (!outage) return;
    outage = null;
    log.info({}, `${what} answers again`);
  }

  return {
    /**
     * Does one thing over the connection, within the deadline. Throws DeadlineExceeded, what `work` throws, and
     * EventStoreUnavailable while the store is away.
     */
    async use<T>(work: (connected: Connected) => Promise<T>): Promise<T> {
      const away = whyAway();
      if (away) throw new EventStoreUnavailable(away);
      return await attempt(work);
    },

    /** Null while the store answers, or has not failed for long. */
    whyAway,

    /** Interrupts what is under way, and refuses what is begun later. */
    close(): void {
      closing.abort(new EventStoreUnavailable('The connection to the event store is closed'));
      if (current) release(current);
      current = undefined;
    },
  };
}

/** Nothing is connected until it is used. Once it `isReleased`, its calls are cancelled. */
export function connected(client: EventStoreDBClient) {
  return { client, appends: createAppendStream(() => openCall(client)), isReleased: false };
}

function openCall(client: EventStoreDBClient): Promise<AppendCall> {
  const { GRPCStreamCreator, callArguments } = hooksOf(client);
  const { path } = StreamsService.batchAppend;
  const asItIs = (bytes: Buffer) => bytes;
  // One call for all appends: no deadline belongs to it.
  const args = callArguments({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
  return GRPCStreamCreator(StreamsClient, 'appends', (grpc) =>
    grpc.makeBidiStreamRequest(path, asItIs, asItIs, ...args),
  )();
}

/** Cancels every call. */
export function release(used: Connected): void {
  if (used.isReleased) return;
  used.isReleased = true;
  used.appends.close();
  closeClient(used.client);
}
