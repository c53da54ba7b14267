// BatchAppend: one call for all appends of a client. Chunks with the same correlation id form one append and get one
// answer.
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { type Message, messageIn, messagesIn, numberIn } from '@ledger/kernel/read-protobuf.ts';
import { encode, type Field, field, number } from '@ledger/kernel/write-protobuf.ts';
import {
  AppendTooLarge,
  addEvent,
  type Draft,
  expectedRevisionOf,
  MAX_APPEND_BYTES,
  NO_OPTIONS,
  openDraft,
  TOO_LATE,
} from './append-draft.ts';
import type { AppendResult } from './log-tables.ts';
import type { Storage } from './storage.ts';
import {
  currentRevision,
  errorStatus,
  expectedRevision,
  grpcError,
  parseProposedEvent,
  parseStreamName,
  parseUuid,
  RequestFault,
  success,
} from './wire.ts';

type BatchCall = ServerDuplexStream<Message, Buffer>;
type Answer = AppendResult | { outcome: 'failed'; error: unknown };

/** An append whose chunks are arriving. Once it is answered it has no draft, and later chunks are ignored. */
type Batch = {
  correlationId: string;
  stream: string;
  draft: Draft | undefined;
  deadline: NodeJS.Timeout | undefined;
};

/** A client's call; `batches` are the appends whose last chunk has not arrived yet. */
type Session = {
  call: BatchCall;
  batches: Map<string, Batch>;
  unanswered: number;
  /** The bytes of the appends that are complete and not answered yet. */
  pendingBytes: number;
  halfClosed: boolean;
};

/** How many appends may have arrived in part before the call ends. The official client sends one after the other. */
const MAX_INCOMPLETE = 64;
/** Nothing is read from a caller that has more in the queue. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
/** About how much an append takes besides its events. */
const APPEND_BYTES = 1024;

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The handler of BatchAppend, and a function that ends its calls when the server closes. */
export function createBatchAppends(storage: Storage) {
  const calls = new Set<BatchCall>();
  return {
    batchAppend(call: BatchCall): void {
      calls.add(call);
      call.on('close', () => calls.delete(call));
      serve(call, storage);
    },

    /** Ends the calls after the answers given so far, so that the client rejects the appends still unanswered. */
    end(): void {
      for (const call of calls) {
        call.emit('error', { code: status.UNAVAILABLE, details: 'The event store is closing' });
      }
    },
  };
}

function serve(call: BatchCall, storage: Storage): void {
  const session: Session = { call, batches: new Map(), unanswered: 0, pendingBytes: 0, halfClosed: false };
  call.on('data', (chunk: Message) => {
    try {
      const correlationId = parseUuid(messageIn(chunk, 1));
      const batch = session.batches.get(correlationId) ?? begin(session, correlationId, messageIn(chunk, 2));
      addEvents(session, batch, messagesIn(chunk, 3));
      if (numberIn(chunk, 4)) commit(session, batch, storage);
      else awaitMore(session, batch);
    } catch (error) {
      // Without a correlation id no append can be answered, and a caller who begins too many may forget them.
      call.emit('error', grpcError(error));
    }
  });
  call.on('drain', () => session.pendingBytes <= MAX_PENDING_BYTES && call.resume());
  call.on('end', () => {
    session.halfClosed = true;
    const error = new RequestFault('The append ended before its last chunk');
    for (const batch of session.batches.values()) {
      if (batch.draft) answer(session, batch, { outcome: 'failed', error });
    }
    endWhenAnswered(session);
  });
  call.on('cancelled', () => {
    for (const batch of session.batches.values()) clearTimeout(batch.deadline);
  });
}

function begin(session: Session, correlationId: string, options: Message | undefined): Batch {
  const batch: Batch = { correlationId, stream: '', draft: undefined, deadline: undefined };
  session.unanswered += 1;
  try {
    if (!options) throw new RequestFault(NO_OPTIONS);
    batch.stream = parseStreamName(messageIn(options, 1));
    batch.draft = openDraft(batch.stream, expectedRevisionOf(options), deadlineMsOf(options));
  } catch (error) {
    answer(session, batch, { outcome: 'failed', error });
  }
  return batch;
}

/** A Timestamp, or a Duration from now on: signed seconds, and nanoseconds. */
function deadlineMsOf(options: Message): number {
  const duration = messageIn(options, 7);
  const given = duration ?? messageIn(options, 6);
  if (!given) return Number.POSITIVE_INFINITY;
  const seconds = BigInt.asIntN(64, BigInt(numberIn(given, 1)));
  return (duration ? Date.now() : 0) + Number(seconds) * 1_000 + Number(numberIn(given, 2)) / 1e6;
}

function addEvents(session: Session, batch: Batch, messages: readonly Message[]): void {
  if (!batch.draft) return;
  if (Date.now() > batch.draft.deadlineMs) {
    answer(session, batch, { outcome: 'deadline-exceeded' });
    return;
  }
  try {
    for (const message of messages) addEvent(batch.draft, parseProposedEvent(message));
  } catch (error) {
    answer(session, batch, { outcome: 'failed', error });
  }
}

function awaitMore(session: Session, batch: Batch): void {
  session.batches.set(batch.correlationId, batch);
  if (session.batches.size > MAX_INCOMPLETE)
    throw new RequestFault(`At most ${MAX_INCOMPLETE} appends of a call may be incomplete`);
  if (!batch.draft || batch.deadline || batch.draft.deadlineMs === Number.POSITIVE_INFINITY) return;
  const leftMs = Math.min(batch.draft.deadlineMs - Date.now(), LONGEST_TIMER_MS);
  batch.deadline = setTimeout(() => answer(session, batch, { outcome: 'deadline-exceeded' }), leftMs);
}

function commit(session: Session, batch: Batch, storage: Storage): void {
  session.batches.delete(batch.correlationId);
  clearTimeout(batch.deadline);
  if (!batch.draft) return;
  const bytes = APPEND_BYTES + batch.draft.sizeBytes;
  session.pendingBytes += bytes;
  if (session.pendingBytes > MAX_PENDING_BYTES) session.call.pause();
  const settle = (result: Answer): void => {
    session.pendingBytes -= bytes;
    if (session.pendingBytes <= MAX_PENDING_BYTES && !session.call.writableNeedDrain) session.call.resume();
    answer(session, batch, result);
  };
  storage.append(batch.draft).then(settle, (error: unknown) => settle({ outcome: 'failed', error }));
}

function answer(session: Session, batch: Batch, result: Answer): void {
  // A caller that does not read its answers is not read from either.
  if (!session.call.write(responseOf(batch, result))) session.call.pause();
  clearTimeout(batch.deadline);
  batch.draft = undefined;
  session.unanswered -= 1;
  endWhenAnswered(session);
}

function endWhenAnswered({ call, halfClosed, unanswered }: Session): void {
  if (halfClosed && unanswered === 0) call.end();
}

/** A BatchAppendResp of streams.proto. */
function responseOf({ correlationId, stream, draft }: Batch, result: Answer): Buffer {
  const fields = { revision: 5, noStream: 6, any: 7, streamExists: 8 };
  return encode(
    field(1, field(2, correlationId)),
    result.outcome === 'appended' ? success(3, result) : errorOf(result, draft),
    field(4, field(3, stream)),
    ...(draft ? [expectedRevision(draft.expected, fields)] : []),
  );
}

/** The details are messages of shared.proto. */
function errorOf(result: Exclude<Answer, { outcome: 'appended' }>, draft: Draft | undefined): Field {
  if (result.outcome === 'deadline-exceeded')
    return errorStatus(status.DEADLINE_EXCEEDED, TOO_LATE, 'Timeout');
  if (result.outcome === 'wrong-expected-version') {
    const fields = { revision: 3, any: 4, streamExists: 5, noStream: 6 };
    return errorStatus(
      status.ALREADY_EXISTS,
      'Wrong expected version',
      'WrongExpectedVersion',
      currentRevision(result.currentRevision, [1, 2]),
      expectedRevision(draft?.expected ?? 'any', fields),
    );
  }
  const { code, details } = grpcError(result.error);
  if (result.error instanceof AppendTooLarge)
    return errorStatus(code, details, 'MaximumAppendSizeExceeded', number(1, MAX_APPEND_BYTES));
  // For any other error the client shows the message, because it does not know the type of the details.
  return errorStatus(code, details, 'BadRequest', field(1, details));
}
