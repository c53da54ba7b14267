// Append: one call per append; the options come first, then one message per event.
import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js';
import { type Message, messageIn } from '@ledger/kernel/read-protobuf.ts';
import { encode, field } from '@ledger/kernel/write-protobuf.ts';
import { addEvent, type Draft, expectedRevisionOf, NO_OPTIONS, openDraft, TOO_LATE } from './append-draft.ts';
import type { AppendResult } from './log-tables.ts';
import type { Storage } from './storage.ts';
import {
  currentRevision,
  type ExpectedRevision,
  expectedRevision,
  grpcError,
  parseProposedEvent,
  parseStreamName,
  RequestFault,
  success,
} from './wire.ts';

/** The handler of Append. A wrong expected version is a response; every other failure is an error of the call. */
export function createAppend(storage: Storage) {
  return (call: ServerReadableStream<Message, Buffer>, callback: sendUnaryData<Buffer>): void => {
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

/** An AppendResp of streams.proto. */
function answerOf(result: AppendResult, expected: ExpectedRevision): Buffer {
  if (result.outcome === 'deadline-exceeded') throw new RequestFault(TOO_LATE, status.DEADLINE_EXCEEDED);
  if (result.outcome === 'appended') return encode(success(1, result));
  const current = currentRevision(result.currentRevision, [6, 7]);
  const fields = { revision: 8, any: 9, streamExists: 10, noStream: 11 };
  return encode(field(2, current, expectedRevision(expected, fields)));
}
