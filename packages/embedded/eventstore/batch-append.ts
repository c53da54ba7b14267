// BatchAppend: one call for all appends of a client. Chunks with the same correlation id form one append and get one
// answer.
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import {
  AppendTooLarge,
  addEvent,
  type Draft,
  expectedRevisionOf,
  MAX_APPEND_BYTES,
  NO_OPTIONS,
  openDraft,
  TOO_LATE,
} from './draft.ts';
import type { AppendResult } from './log.ts';
import type { Storage } from './storage.ts';
import {
  grpcError,
  parseProposedEvent,
  parseStreamName,
  parseUuid,
  RequestFault,
  statusMessage,
  streamIdentifier,
  uuidMessage,
} from './wire.ts';

type BatchCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;
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
  /** Of the appends that are complete and not answered yet. */
  pendingBytes: number;
  halfClosed: boolean;
};

/** The call ends with more appends of which only a part has arrived. The official client sends one after the other. */
const MAX_INCOMPLETE = 64;
/** Nothing is read from a caller that has more in the queue. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
/** What an append takes besides its events, about. */
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
  call.on('data', (chunk: streams.BatchAppendReq) => {
    try {
      const correlationId = parseUuid(chunk.getCorrelationId());
      const batch = session.batches.get(correlationId) ?? begin(session, correlationId, chunk.getOptions());
      addEvents(session, batch, chunk.getProposedMessagesList());
      if (chunk.getIsFinal()) commit(session, batch, storage);
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

function begin(
  session: Session,
  correlationId: string,
  options: streams.BatchAppendReq.Options | undefined,
): Batch {
  const batch: Batch = { correlationId, stream: '', draft: undefined, deadline: undefined };
  session.unanswered += 1;
  try {
    if (!options) throw new RequestFault(NO_OPTIONS);
    batch.stream = parseStreamName(options.getStreamIdentifier());
    const expected = expectedRevisionOf(options, options.getStreamPosition());
    const deadlineMs = options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY;
    batch.draft = openDraft(batch.stream, expected, deadlineMs);
  } catch (error) {
    answer(session, batch, { outcome: 'failed', error });
  }
  return batch;
}

function addEvents(
  session: Session,
  batch: Batch,
  messages: readonly streams.BatchAppendReq.ProposedMessage[],
): void {
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

function responseOf({ correlationId, stream, draft }: Batch, result: Answer): streams.BatchAppendResp {
  const response = new streams.BatchAppendResp();
  response.setCorrelationId(uuidMessage(correlationId));
  response.setStreamIdentifier(streamIdentifier(stream));
  if (draft?.expected === 'any') response.setAny(new empty.Empty());
  else if (draft?.expected === 'no_stream') response.setNoStream(new empty.Empty());
  else if (draft?.expected === 'stream_exists') response.setStreamExists(new empty.Empty());
  else if (draft) response.setStreamPosition(String(draft.expected));
  if (result.outcome !== 'appended') {
    response.setError(errorOf(result, draft));
    return response;
  }
  const position = new shared.AllStreamPosition();
  position.setCommitPosition(String(result.position));
  position.setPreparePosition(String(result.position));
  const success = new streams.BatchAppendResp.Success();
  success.setPosition(position);
  if (result.revision < 0) success.setNoStream(new empty.Empty());
  else success.setCurrentRevision(String(result.revision));
  response.setSuccess(success);
  return response;
}

function errorOf(
  result: Exclude<Answer, { outcome: 'appended' }>,
  draft: Draft | undefined,
): statusMessages.Status {
  if (result.outcome === 'deadline-exceeded') {
    return statusMessage(status.DEADLINE_EXCEEDED, TOO_LATE, 'Timeout', new shared.Timeout());
  }
  if (result.outcome === 'wrong-expected-version') {
    const details = conflict(result.currentRevision, draft);
    return statusMessage(status.ALREADY_EXISTS, 'Wrong expected version', 'WrongExpectedVersion', details);
  }
  if (result.error instanceof AppendTooLarge) {
    const exceeded = new shared.MaximumAppendSizeExceeded();
    exceeded.setMaxappendsize(MAX_APPEND_BYTES);
    return statusMessage(result.error.code, result.error.message, 'MaximumAppendSizeExceeded', exceeded);
  }
  // For any other error the client shows the message, because it does not know the type of the details.
  const { code, details } = grpcError(result.error);
  const badRequest = new shared.BadRequest();
  badRequest.setMessage(details);
  return statusMessage(code, details, 'BadRequest', badRequest);
}

function conflict(currentRevision: number, draft: Draft | undefined): shared.WrongExpectedVersion {
  const details = new shared.WrongExpectedVersion();
  if (currentRevision < 0) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(String(currentRevision));
  if (draft?.expected === 'no_stream') details.setExpectedNoStream(new empty.Empty());
  else if (draft?.expected === 'stream_exists') details.setExpectedStreamExists(new empty.Empty());
  else if (typeof draft?.expected === 'bigint') details.setExpectedStreamPosition(String(draft.expected));
  else details.setExpectedAny(new empty.Empty());
  return details;
}
