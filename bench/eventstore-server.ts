// Runs the embedded event store in its own process for the benchmark: reports its port, and, when asked, its memory and
// how often it was asked for the stream of a payment.
import { Server } from '@grpc/grpc-js';
import { type Message, messageIn, textIn } from '@ledger/kernel/read-protobuf.ts';
import { startEventStore } from '../packages/embedded/eventstore/server.ts';

let reads = 0;
const { addService } = Server.prototype;
Server.prototype.addService = function (service, implementation) {
  const { read } = implementation;
  const counted = typeof read === 'function' && {
    read: (call: { request: Message }, callback: unknown) => {
      if (streamOf(call.request).startsWith('payment-')) reads += 1;
      return Reflect.apply(read, implementation, [call, callback]);
    },
  };
  addService.call(this, service, { ...implementation, ...counted });
};

/** `''` for $all; the fields are those of ReadReq in streams.proto. */
function streamOf(request: Message): string {
  const ofStream = messageIn(messageIn(request, 1) ?? request, 1);
  return textIn(ofStream && messageIn(ofStream, 1), 3);
}

const [file = ''] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
process.send?.({ port: server.port });
process.on('message', () => process.send?.({ residentBytes: process.memoryUsage.rss(), reads }));
process.once('disconnect', () => void server.close());
