/** The event store that tests kill, freeze and start again: file and port from the command line. It ends with its parent. */
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';

const [file = '', port = '0'] = process.argv.slice(2);
const server = await startEventStore({ file, host: '127.0.0.1', port: Number(port) });
process.on('disconnect', () => process.exit());
process.on('SIGTERM', async () => {
  await server.close();
  process.exit();
});
process.send?.(server.port);
