/** The event store as the program uses it. The implementation is client.ts. */

export type Position = { commit: bigint; prepare: bigint };

export type NewEvent = { id: string; type: string; data: unknown; metadata: unknown };

export type RecordedEvent = {
  id: string;
  type: string;
  /** Parsed JSON as it was stored, not validated. */
  data: unknown;
  metadata: unknown;
  streamName: string;
  revision: number;
  position: Position;
  created: Date;
  /** The connection over which it was read; not known for events of a subscription. */
  epoch?: Epoch | undefined;
};

/**
 * The time for which a connection to the log lasts. A store that is restored from an older copy drops its connections
 * first, so what was known of a stream may no longer be true in the next epoch, even if its revision is the same.
 */
export type Epoch = { readonly [unique]?: never };
declare const unique: unique symbol;

/** The revision the stream must be at for an append to go through. */
export type ExpectedRevision = number | 'no_stream';

/** Another append came first. Expected under concurrency: load and decide again. */
export class WrongExpectedRevision extends Error {
  override name = 'WrongExpectedRevision';
  readonly streamName: string;
  readonly actual: ExpectedRevision | null;
  /** `actual` is null if the stream was not asked: the connection was lost since it was known to be at `expected`. */
  constructor(streamName: string, expected: ExpectedRevision, actual: ExpectedRevision | null) {
    super(
      actual === null
        ? `The connection was lost since stream ${streamName} was known to be at ${expected}`
        : `Stream ${streamName} is at ${actual}, not at ${expected}`,
    );
    this.streamName = streamName;
    this.actual = actual;
  }
}

/** The event store will not take an append, now or later: rights, a deleted stream, its own limit of size. */
export class AppendRefused extends Error {
  override name = 'AppendRefused';
}

/** An event by which a log is recognised. */
export type LogMark = Pick<RecordedEvent, 'id' | 'position'>;

/** The log lacks an event that was read from it before, or ends before it: it is an older copy, or another log. */
export class LogReplaced extends Error {
  override name = 'LogReplaced';
}

/** The event store cannot be reached or did not answer in time. Trying again is safe. */
export class EventStoreUnavailable extends Error {
  override name = 'EventStoreUnavailable';
}

/** The event store has no room for an append, which is not stored. It reads, and takes appends again once there is room. */
export class EventStoreFull extends EventStoreUnavailable {
  override name = 'EventStoreFull';
}

/** A message of a subscription; they come in the order of the log. */
export type SubscriptionMessage =
  | { kind: 'event'; event: RecordedEvent }
  /** Everything up to here was considered: safe to store as a checkpoint. `passed` is the last event before, if known. */
  | { kind: 'checkpoint'; position: Position; passed?: LogMark | undefined }
  | { kind: 'caught_up' };

/** Which events of $all the server sends. It filters by the name of the stream or by the type of event, not by both. */
export type Selection = { streamPrefixes: readonly string[] } | { eventTypes: readonly string[] };

type SubscribeOptions = Selection & {
  /** The first event is the one after it; null: from the start. */
  after: Position | null;
  /**
   * The last event that was processed, null if there was none: the log must still have it, and still reach to `after`.
   * If it is not given, neither is checked before the first event.
   */
  processed?: LogMark | null | undefined;
  signal: AbortSignal;
  maxFailures?: number;
};

export type EventStore = {
  /**
   * Appends events atomically. An append whose outcome is unknown (deadline, dropped connection) is
   * resolved by reading the stream and comparing event ids before this returns or throws. Where the events depend on those
   * before them, `known` is the epoch in which the revision was known: they are not sent in another one.
   * Throws WrongExpectedRevision, EventStoreUnavailable, AppendRefused.
   */
  append(
    streamName: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    known?: Epoch | undefined,
  ): Promise<{ revision: number; position: Position; epoch?: Epoch | undefined }>;
  /**
   * The events of a stream from a revision on, at most `limit` where one is given; none when there is no such stream.
   * Throws EventStoreUnavailable.
   */
  load(streamName: string, from?: number, limit?: number): Promise<RecordedEvent[]>;
  /** The last event of a stream, or null when there is no such stream. Throws EventStoreUnavailable. */
  loadLast(streamName: string): Promise<RecordedEvent | null>;
  /** The end of the log: where its last event is, of whatever stream; null in an empty one. Throws EventStoreUnavailable. */
  head(): Promise<Position | null>;
  /**
   * Follows the selected events of $all without end: a broken connection is resumed with backoff after the last message
   * handed over. Ends when the signal aborts or the consumer stops; the call to the server is released either way. With
   * `maxFailures` it throws EventStoreUnavailable after that number of failures in a row. Throws LogReplaced.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionMessage>;
  /**
   * The first selected event after a position; null when there is none yet. Throws EventStoreUnavailable when the signal
   * aborts before the store has answered, and LogReplaced when the log lacks `processed`, or a leader that was replaced
   * has not heard of it yet.
   */
  firstAfter(options: SubscribeOptions): Promise<RecordedEvent | null>;
  /** The first of them, at most `limit`. Throws likewise. */
  eventsAfter(options: SubscribeOptions, limit: number): Promise<RecordedEvent[]>;
  /**
   * Whether the last append found no room, less than a minute ago: only an append finds out that there is room again.
   */
  isDiskFull(): boolean;
  close(): Promise<void>;
};
