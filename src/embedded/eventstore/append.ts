// Append: one call for one append, its options first and then a message per event.

import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js';
import {
  AppendTooLarge,
  addEvent,
  type Draft,
  expectedRevisionOf,
  MAX_APPEND_BYTES,
  NO_OPTIONS,
  openDraft,
  TOO_LARGE,
  TOO_LATE,
} from './draft.ts';
import type { AppendResult } from './log.ts';
import type { Storage } from './storage.ts';
import {
  type ExpectedRevision,
  errorTrailer,
  grpcError,
  parseProposedEvent,
  parseStreamName,
  RequestFault,
} from './wire.ts';

/** The handler of Append. A wrong expected version is an answer, everything else an error of the call. */
export function createAppend(storage: Storage) {
  return (
    call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
    callback: sendUnaryData<streams.AppendResp>,
  ): void => {
    let draft: Draft | undefined;
    let refused = false;
    const refuse = (error: unknown): void => {
      refused = true;
      callback(errorOf(error));
    };
    call.on('data', (message: streams.AppendReq) => {
      if (refused) return;
      try {
        const options = message.getOptions();
        const event = message.getProposedMessage();
        if (options) draft = draftOf(options, Number(call.getDeadline()));
        else if (draft && event) addEvent(draft, parseProposedEvent(event));
        else throw new RequestFault(NO_OPTIONS);
      } catch (error) {
        refuse(error);
      }
    });
    call.on('end', () => {
      if (refused) return;
      if (!draft) return refuse(new RequestFault(NO_OPTIONS));
      const { expected } = draft;
      storage.append(draft).then((result) => {
        if (result.outcome === 'deadline-exceeded')
          refuse(new RequestFault(TOO_LATE, status.DEADLINE_EXCEEDED));
        else callback(null, answerOf(result, expected));
      }, refuse);
    });
  };
}

function draftOf(options: streams.AppendReq.Options, deadlineMs: number): Draft {
  const expected = expectedRevisionOf(options, options.getRevision());
  return openDraft(parseStreamName(options.getStreamIdentifier()), expected, deadlineMs);
}

function errorOf(error: unknown) {
  if (!(error instanceof AppendTooLarge)) return grpcError(error);
  return errorTrailer(status.INVALID_ARGUMENT, TOO_LARGE, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(MAX_APPEND_BYTES),
  });
}

function answerOf(
  result: Exclude<AppendResult, { outcome: 'deadline-exceeded' }>,
  expected: ExpectedRevision,
): streams.AppendResp {
  const response = new streams.AppendResp();
  if (result.outcome === 'wrong-expected-version') {
    response.setWrongExpectedVersion(conflict(result.currentRevision, expected));
    return response;
  }
  const position = new streams.AppendResp.Position();
  position.setCommitPosition(String(result.position));
  position.setPreparePosition(String(result.position));
  const success = new streams.AppendResp.Success();
  success.setPosition(position);
  if (result.revision < 0) success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(String(result.revision));
  response.setSuccess(success);
  return response;
}

function conflict(currentRevision: number, expected: ExpectedRevision) {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (currentRevision < 0) message.setCurrentNoStream(new shared.Empty());
  else message.setCurrentRevision(String(currentRevision));
  if (expected === 'any') message.setExpectedAny(new shared.Empty());
  else if (expected === 'no_stream') message.setExpectedNoStream(new shared.Empty());
  else if (expected === 'stream_exists') message.setExpectedStreamExists(new shared.Empty());
  else message.setExpectedRevision(String(expected));
  return message;
}
