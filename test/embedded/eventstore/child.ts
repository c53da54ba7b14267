// An event store in a process of its own, for tests that kill it: prints its port, closes on SIGTERM.

import { startEventStore } from '../../../src/embedded/eventstore/server.ts';

const [file = '', port = '0'] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: Number(port) });
process.stdout.write(`${server.port}\n`);
process.once('SIGTERM', () => void server.close());
