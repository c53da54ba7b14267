// Append (one call per append) and BatchAppend (one call for all appends of a client): from messages to storage and back.

import shared from '@eventstore/db-client/generated/shared_pb.js';
import type statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import {
  type ServerDuplexStream,
  type ServerReadableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { AppendRequest, AppendResult, Storage } from './storage.ts';
import {
  type ExpectedRevision,
  grpcError,
  MAX_APPEND_BYTES,
  type ProposedEvent,
  parseProposed,
  parseStreamName,
  parseUuid,
  RequestFault,
  sizeBytesOf,
  statusMessage,
  streamIdentifier,
  trailer,
  uuidMessage,
} from './wire.ts';

/** An append whose events are still coming in. */
type Draft = AppendRequest & { events: ProposedEvent[]; sizeBytes: number };

class AppendTooLarge extends Error {}

function openDraft(stream: string, expected: ExpectedRevision, deadlineMs: number): Draft {
  if (stream.startsWith('$$')) {
    throw new RequestFault(
      'Stream metadata is not kept here: a ledger truncates nothing',
      status.UNIMPLEMENTED,
    );
  }
  return { stream, expected, deadlineMs, events: [], sizeBytes: 0 };
}

function addEvent(draft: Draft, event: ProposedEvent): void {
  draft.sizeBytes += sizeBytesOf(event);
  if (draft.sizeBytes > MAX_APPEND_BYTES) throw new AppendTooLarge();
  draft.events.push(event);
}

/** Handles Append: the options first, then one message per event; a wrong expected version is an answer, not an error. */
export function createAppend(storage: Storage) {
  return (
    call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
    callback: sendUnaryData<streams.AppendResp>,
  ): void => {
    let draft: Draft | undefined;
    let refused = false;
    const refuse = (error: unknown): void => {
      refused = true;
      callback(unaryError(error));
    };
    call.on('data', (message: streams.AppendReq) => {
      if (refused) return;
      try {
        const options = message.getOptions();
        const event = message.getProposedMessage();
        if (options) draft = openUnaryDraft(options, Number(call.getDeadline()));
        else if (draft && event) addEvent(draft, parseProposed(event));
        else throw new RequestFault('An append begins with its options');
      } catch (error) {
        refuse(error);
      }
    });
    call.on('end', () => {
      if (refused) return;
      if (!draft) return refuse(new RequestFault('An append begins with its options'));
      const { expected } = draft;
      storage.append(draft).then((result) => {
        if (result.outcome === 'deadline-exceeded')
          refuse(new RequestFault(TOO_LATE, status.DEADLINE_EXCEEDED));
        else callback(null, unaryAnswer(result, expected));
      }, refuse);
    });
  };
}

function openUnaryDraft(options: streams.AppendReq.Options, deadlineMs: number): Draft {
  const expected = options.hasNoStream()
    ? 'no_stream'
    : options.hasStreamExists()
      ? 'stream_exists'
      : options.hasAny()
        ? 'any'
        : BigInt(options.getRevision());
  return openDraft(parseStreamName(options.getStreamIdentifier()), expected, deadlineMs);
}

function unaryError(error: unknown) {
  if (!(error instanceof AppendTooLarge)) return grpcError(error);
  return trailer(status.INVALID_ARGUMENT, 'maximum-append-size-exceeded', TOO_LARGE, {
    'maximum-append-size': String(MAX_APPEND_BYTES),
  });
}

const TOO_LARGE = `Maximum append size of ${MAX_APPEND_BYTES} bytes exceeded`;
const TOO_LATE = 'The deadline passed before the append could be committed';

function unaryAnswer(
  result: Exclude<AppendResult, { outcome: 'deadline-exceeded' }>,
  expected: ExpectedRevision,
): streams.AppendResp {
  const response = new streams.AppendResp();
  if (result.outcome === 'wrong-expected-version') {
    response.setWrongExpectedVersion(wrongVersionUnary(result.currentRevision, expected));
    return response;
  }
  const success = new streams.AppendResp.Success();
  if (result.revision < 0) success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(String(result.revision));
  const position = new streams.AppendResp.Position();
  position.setCommitPosition(String(result.position));
  position.setPreparePosition(String(result.position));
  success.setPosition(position);
  response.setSuccess(success);
  return response;
}

function wrongVersionUnary(currentRevision: number, expected: ExpectedRevision) {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (currentRevision < 0) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(currentRevision));
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else wrong.setExpectedRevision(String(expected));
  return wrong;
}

/** A draft of a batch call; refused ones stay, empty, until their last chunk has come. */
type BatchDraft = {
  correlationId: string;
  stream: string;
  draft?: Draft | undefined;
  timer?: NodeJS.Timeout;
};

/** Handles BatchAppend: chunks that share a correlation id are one append, answered exactly once. */
export function createBatchAppend(storage: Storage) {
  return (call: ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>): void => {
    const open = new Map<string, BatchDraft>();
    let unanswered = 0;
    let halfClosed = false;

    const endWhenDone = (): void => {
      if (halfClosed && unanswered === 0) call.end();
    };
    const answer = (
      batch: BatchDraft,
      result: AppendResult | { outcome: 'failed'; error: unknown },
      expected?: ExpectedRevision,
    ) => {
      clearTimeout(batch.timer);
      batch.draft = undefined;
      unanswered -= 1;
      call.write(batchAnswer(batch, result, expected));
      endWhenDone();
    };

    const takeChunk = (chunk: streams.BatchAppendReq): void => {
      const correlationId = parseUuid(chunk.getCorrelationId());
      let batch = open.get(correlationId);
      if (!batch) {
        batch = { correlationId, stream: '' };
        open.set(correlationId, batch);
        unanswered += 1;
        try {
          openBatch(batch, chunk.getOptions());
        } catch (error) {
          answer(batch, { outcome: 'failed', error });
        }
      }
      const isFinal = chunk.getIsFinal();
      if (isFinal) open.delete(correlationId);
      const { draft } = batch;
      if (!draft) return;
      try {
        for (const message of chunk.getProposedMessagesList()) addEvent(draft, parseProposed(message));
      } catch (error) {
        answer(batch, { outcome: 'failed', error }, draft.expected);
        return;
      }
      const done = batch;
      if (isFinal) {
        clearTimeout(batch.timer);
        storage.append(draft).then(
          (result) => answer(done, result, draft.expected),
          (error) => answer(done, { outcome: 'failed', error }, draft.expected),
        );
      } else if (!batch.timer && draft.deadlineMs < Number.POSITIVE_INFINITY) {
        batch.timer = setTimeout(
          () => answer(done, { outcome: 'deadline-exceeded' }, draft.expected),
          Math.min(draft.deadlineMs - Date.now(), 2 ** 31 - 1),
        );
      }
    };
    call.on('data', takeChunk);
    call.on('end', () => {
      halfClosed = true;
      for (const batch of open.values()) {
        if (batch.draft)
          answer(batch, { outcome: 'failed', error: new RequestFault('The last chunk never came') });
      }
      endWhenDone();
    });
  };
}

function openBatch(batch: BatchDraft, options: streams.BatchAppendReq.Options | undefined): void {
  if (!options) throw new RequestFault('An append begins with its options');
  batch.stream = parseStreamName(options.getStreamIdentifier());
  const expected = options.hasNoStream()
    ? 'no_stream'
    : options.hasStreamExists()
      ? 'stream_exists'
      : options.hasAny()
        ? 'any'
        : BigInt(options.getStreamPosition());
  const deadlineMs = options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY;
  batch.draft = openDraft(batch.stream, expected, deadlineMs);
}

function batchAnswer(
  { correlationId, stream }: BatchDraft,
  result: AppendResult | { outcome: 'failed'; error: unknown },
  expected?: ExpectedRevision,
): streams.BatchAppendResp {
  const response = new streams.BatchAppendResp();
  response.setCorrelationId(uuidMessage(correlationId));
  response.setStreamIdentifier(streamIdentifier(stream));
  if (expected === 'any') response.setAny(new empty.Empty());
  else if (expected === 'no_stream') response.setNoStream(new empty.Empty());
  else if (expected === 'stream_exists') response.setStreamExists(new empty.Empty());
  else if (expected !== undefined) response.setStreamPosition(String(expected));
  if (result.outcome !== 'appended') {
    response.setError(batchError(result, expected));
    return response;
  }
  const success = new streams.BatchAppendResp.Success();
  if (result.revision < 0) success.setNoStream(new empty.Empty());
  else success.setCurrentRevision(String(result.revision));
  const position = new shared.AllStreamPosition();
  position.setCommitPosition(String(result.position));
  position.setPreparePosition(String(result.position));
  success.setPosition(position);
  response.setSuccess(success);
  return response;
}

function batchError(
  result: Exclude<AppendResult, { outcome: 'appended' }> | { outcome: 'failed'; error: unknown },
  expected?: ExpectedRevision,
): statusMessages.Status {
  if (result.outcome === 'deadline-exceeded') {
    return statusMessage(status.DEADLINE_EXCEEDED, TOO_LATE, 'Timeout', new shared.Timeout());
  }
  if (result.outcome === 'wrong-expected-version') {
    const wrong = new shared.WrongExpectedVersion();
    if (result.currentRevision < 0) wrong.setCurrentNoStream(new empty.Empty());
    else wrong.setCurrentStreamRevision(String(result.currentRevision));
    if (expected === 'no_stream') wrong.setExpectedNoStream(new empty.Empty());
    else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new empty.Empty());
    else if (expected !== undefined && expected !== 'any') wrong.setExpectedStreamPosition(String(expected));
    else wrong.setExpectedAny(new empty.Empty());
    return statusMessage(status.ALREADY_EXISTS, 'Wrong expected version', 'WrongExpectedVersion', wrong);
  }
  const { error } = result;
  if (error instanceof AppendTooLarge) {
    const exceeded = new shared.MaximumAppendSizeExceeded();
    exceeded.setMaxappendsize(MAX_APPEND_BYTES);
    return statusMessage(status.INVALID_ARGUMENT, TOO_LARGE, 'MaximumAppendSizeExceeded', exceeded);
  }
  const { code, details } = grpcError(error);
  const badRequest = new shared.BadRequest();
  badRequest.setMessage(details ?? '');
  return statusMessage(code ?? status.UNKNOWN, details ?? '', 'BadRequest', badRequest);
}
