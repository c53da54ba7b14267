// Runs the embedded event store in its own process for the benchmark: reports its port, and its memory when asked.
import { startEventStore } from '../packages/embedded/eventstore/server.ts';

const [file = ''] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
process.send?.({ port: server.port });
process.on('message', () => process.send?.({ residentBytes: process.memoryUsage.rss() }));
process.once('disconnect', () => void server.close());
