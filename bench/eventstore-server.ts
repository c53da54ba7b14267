// The embedded event store in a process of its own, for the benchmark: tells its port, and its memory when asked.

import { startEventStore } from '../packages/embedded/eventstore/server.ts';

const [file = ''] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
process.send?.({ port: server.port });
process.on('message', () => process.send?.({ residentBytes: process.memoryUsage.rss() }));
process.once('disconnect', () => void server.close());
