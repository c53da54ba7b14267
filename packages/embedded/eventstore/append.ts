// Append: one call per append; the options come first, then one message per event.

import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js';
import { type Message, messageIn } from '@ledger/kernel/read-protobuf.ts';
import { addEvent, type Draft, expectedRevisionOf, NO_OPTIONS, openDraft, TOO_LATE } from './draft.ts';
import type { AppendResult } from './log.ts';
import type { Storage } from './storage.ts';
import {
  type ExpectedRevision,
  grpcError,
  parseProposedEvent,
  parseStreamName,
  RequestFault,
} from './wire.ts';

/** The handler of Append. A wrong expected version is a response; every other failure is an error of the call. */
export function createAppend(storage: Storage) {
  return (
    call: ServerReadableStream<Message, streams.AppendResp>,
    callback: sendUnaryData<streams.AppendResp>,
  ): void => {
    let draft: Draft | undefined;
    let refused = false;
    const refuse = (error: unknown): void => {
      refused = true;
      callback(grpcError(error));
    };
    const commit = async (): Promise<void> => {
      if (refused || call.cancelled) return;
      try {
        if (!draft) throw new RequestFault(NO_OPTIONS);
        callback(null, answerOf(await storage.append(draft), draft.expected));
      } catch (error) {
        refuse(error);
      }
    };
    call.on('data', (message: Message) => {
      if (refused) return;
      try {
        const [options, event] = [messageIn(message, 1), messageIn(message, 2)];
        if (options) draft = draftOf(options, Number(call.getDeadline()));
        else if (draft && event) addEvent(draft, parseProposedEvent(event));
        else throw new RequestFault(NO_OPTIONS);
      } catch (error) {
        refuse(error);
      }
    });
    // When a caller dies halfway, the stream ends and the call is cancelled in the same turn: wait one turn, so that
    // half an append is not committed. (A caller that cancels may first end the stream properly, which cannot be told
    // apart; BatchAppend marks its last chunk and has no such gap.)
    call.on('end', () => setImmediate(() => void commit()));
  };
}

function draftOf(options: Message, deadlineMs: number): Draft {
  return openDraft(parseStreamName(messageIn(options, 1)), expectedRevisionOf(options), deadlineMs);
}

function answerOf(result: AppendResult, expected: ExpectedRevision): streams.AppendResp {
  if (result.outcome === 'deadline-exceeded') throw new RequestFault(TOO_LATE, status.DEADLINE_EXCEEDED);
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
