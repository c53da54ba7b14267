// Messages of a call that are ready together leave in one write of the socket; gRPC would wait for each to be sent.
import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';

/** A caller that reads slowly is noticed once so many bytes wait. */
const MOST_WAITING_BYTES = 256 * 1024;

export const writeTogether: ServerInterceptor = (_, call) => new WritesTogether(call);

class WritesTogether extends ServerInterceptingCall {
  #waitingBytes = 0;

  override sendMessage(message: { length?: number }, callback: () => void): void {
    const bytes = message.length ?? 0;
    this.#waitingBytes += bytes;
    const isFull = this.#waitingBytes > MOST_WAITING_BYTES;
    super.sendMessage(message, () => {
      this.#waitingBytes -= bytes;
      if (isFull) callback();
    });
    if (!isFull) callback();
  }
}
