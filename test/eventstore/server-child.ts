/** The embedded event store in a process of its own: file and port from the command line; prints its port. */
import { once } from 'node:events';
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';

const [file = '', port = '0'] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: Number(port) });
process.stdout.write(`${server.port}\n`);
await once(process, 'SIGTERM');
await server.close();
process.exit(0);
