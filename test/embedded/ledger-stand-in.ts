/** Runs PostgreSQL as `ledger serve` does, in a process that a test can kill: locks, starts, reports, stops on SIGTERM. */
import { lockDataFolder } from '../../packages/embedded/data-folder.ts';
import { startPostgres } from '../../packages/embedded/postgres.ts';

const dataDir = process.argv[2] ?? '';
const quiet = { debug() {}, info() {}, error() {} };
const { path } = lockDataFolder(dataDir);
const postgres = await startPostgres({ dataDir: path, log: quiet });
process.once('SIGTERM', async () => {
  await postgres.stop();
  process.disconnect();
});
process.send?.({ url: postgres.url });
