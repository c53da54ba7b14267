/** The embedded event store in a process of its own: file and port from the command line; prints its port. */
import { startEventStore } from '../../src/embedded/eventstore/server.ts';

const [file = '', port = '0'] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: Number(port) });
process.stdout.write(`${server.port}\n`);
process.on('SIGTERM', () => {
  server.close().then(() => process.exit(0));
});
