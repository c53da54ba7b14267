/**
 * All appends of a connection, over one call. The official client would do the same, but keeps its pending appends in a
 * table of the whole process: an error on one connection rejects the appends of every other, and a late answer then
 * throws where nobody can catch it. Here each call knows its own appends.
 */
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Confirmation, type EncodedAppend, readAnswer, requestOf } from './append-message.ts';
import { type Epoch, WrongExpectedRevision } from './event-store.ts';

export type AppendCall = ClientDuplexStream<Buffer, Buffer>;

type Pending = {
  append: EncodedAppend;
  resolve(confirmation: Confirmation): void;
  reject(reason: Error): void;
};

type Calling = { call: AppendCall; pending: Map<string, Pending> };

/** `open` begins a call, which may take as long as it takes to find a node. */
export function createAppendStream(open: () => Promise<AppendCall>) {
  let calling: Promise<Calling> | undefined;
  let epoch: Epoch = {};
  let sent = 0;
  let closed = false;

  function begin(): Promise<Calling> {
    const begun = open().then((call) => {
      const pending = new Map<string, Pending>();
      call.on('data', (bytes: Buffer) => {
        try {
          settle(pending, bytes);
        } catch (error) {
          // An answer that cannot be read, thrown here, would end the process.
          end(pending, error as Error);
          call.cancel();
        }
      });
      call.on('error', (error) => end(pending, error));
      call.on('end', () => end(pending, new Error('The event store ended the call')));
      return { call, pending };
    });
    begun.catch(() => forget());
    const forget = () => {
      epoch = {};
      if (calling === begun) calling = undefined;
    };
    /** The outcome of everything under way is unknown; the next append begins another call. */
    function end(pending: Calling['pending'], reason: Error): void {
      forget();
      for (const { reject } of pending.values()) reject(reason);
      pending.clear();
    }
    return begun;
  }

  return {
    /** A new one after each lost call. Begins a call if there is none, because only an open call shows a loss. */
    epoch(): Epoch {
      calling ??= begin();
      return epoch;
    },

    /**
     * One attempt at an append. Throws WrongExpectedRevision and AppendRefused if this attempt is not stored and never
     * will be; with any other error the outcome is unknown. An append that was not sent before `close` is never sent.
     */
    async send(append: EncodedAppend): Promise<Confirmation & { epoch: Epoch }> {
      calling ??= begin();
      const { call, pending } = await calling;
      if (closed) throw new Error('The connection was given up before the append was sent');
      if (append.known && append.known !== epoch)
        throw new WrongExpectedRevision(append.streamName, append.expected, null);
      const confirmedIn = epoch;
      sent += 1;
      // A UUID, as the protocol demands. Only this stream has to tell its appends apart.
      const correlationId = `00000000-0000-4000-8000-${sent.toString(16).padStart(12, '0')}`;
      const confirmation = await new Promise<Confirmation>((resolve, reject) => {
        pending.set(correlationId, { append, resolve, reject });
        call.write(requestOf(correlationId, append));
      });
      return { ...confirmation, epoch: confirmedIn };
    },

    close(): void {
      closed = true;
      calling?.then(({ call }) => call.cancel()).catch(() => {});
    },
  };
}

function settle(pending: Map<string, Pending>, bytes: Buffer): void {
  const { correlationId, read } = readAnswer(bytes);
  const found = pending.get(correlationId);
  // A server that closes also sends a message that answers no append.
  if (!found) return;
  pending.delete(correlationId);
  try {
    found.resolve(read(found.append));
  } catch (error) {
    found.reject(error as Error);
  }
}
