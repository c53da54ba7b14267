// Runs the embedded event store in its own process for the benchmark: reports its port, and, when asked, its memory and
// how many reads and subscriptions it was asked for.
import { Server } from '@grpc/grpc-js';
import { startEventStore } from '../packages/embedded/eventstore/server.ts';

let reads = 0;
const { addService } = Server.prototype;
Server.prototype.addService = function (service, implementation) {
  const { read } = implementation;
  const counted = typeof read === 'function' && {
    read: (call: unknown, callback: unknown) => {
      reads += 1;
      return Reflect.apply(read, implementation, [call, callback]);
    },
  };
  addService.call(this, service, { ...implementation, ...counted });
};

const [file = ''] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
process.send?.({ port: server.port });
process.on('message', () => process.send?.({ residentBytes: process.memoryUsage.rss(), reads }));
process.once('disconnect', () => void server.close());
