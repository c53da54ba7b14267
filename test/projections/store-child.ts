/** The event store that tests kill and start again on the same file and port; says when it listens, ends with its parent. */
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';

const [file = '', port = '0'] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: Number(port) });
process.send?.(server.port);
process.on('disconnect', () => process.exit());
