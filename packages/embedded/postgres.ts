/** Runs a real PostgreSQL in the data folder, for use when DATABASE_URL is not set. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ChildLog, superviseChild } from './child.ts';
import { freePort } from './free-port.ts';
import { clusterFolder } from './postgres/cluster.ts';

/**
 * Starts PostgreSQL on a port of 127.0.0.1, by default a free one, with its cluster in `<dataDir>/postgres`, which the
 * first start creates. The caller holds the folder's lock (`lockDataFolder`). If PostgreSQL dies, it is restarted on the
 * same port; if this process dies, PostgreSQL is stopped. `url` is that of the database `ledger`.
 *
 * @throws StartError with PostgreSQL's last lines on stderr if it does not start
 */
export async function startPostgres(cluster: { dataDir: string; log: ChildLog; port?: number }) {
  const { dataDir, log, port = await freePort() } = cluster;
  const { home, passwordFile } = clusterFolder(dataDir);
  const guard = await superviseChild({
    name: `PostgreSQL in ${home}`,
    modulePath: fileURLToPath(new URL('./postgres/guard.ts', import.meta.url)),
    args: [dataDir, String(port)],
    log,
  });
  const password = await readFile(passwordFile, 'utf8');
  return { url: `postgres://ledger:${password}@127.0.0.1:${port}/ledger`, stop: guard.stop };
}
