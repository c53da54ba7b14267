// Runs an event store in its own process: prints its port, or why it cannot start, and closes on SIGTERM.
import { startEventStore } from '../../../packages/embedded/eventstore/server.ts';

// Only after everything is loaded: another account may have no access to the sources.
if (process.env.UNPRIVILEGED && process.getuid?.() === 0) process.setuid?.(65_534);
const [file = ''] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
process.stdout.write(`${server.port}\n`);
process.once('SIGTERM', () => void server.close());
