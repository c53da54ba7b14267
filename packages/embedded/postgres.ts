/** A real PostgreSQL in the data folder, for machines where DATABASE_URL names none. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ChildLog, superviseChild } from './child.ts';
import { freePort } from './free-port.ts';
import { clusterFolder } from './postgres/cluster.ts';

export type EmbeddedPostgres = {
  /** Connection string of the database `ledger`. Stays valid when PostgreSQL is restarted. */
  url: string;
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL on a free port of 127.0.0.1, with the cluster in `<dataDir>/postgres`, made at the first start.
 * The caller holds the folder's lock (`lockDataFolder`). When PostgreSQL dies it comes back on the same port;
 * when this process dies, PostgreSQL is stopped.
 *
 * @throws StartError with PostgreSQL's own last words when it does not start
 */
export async function startPostgres({
  dataDir,
  log,
}: {
  dataDir: string;
  log: ChildLog;
}): Promise<EmbeddedPostgres> {
  const port = await freePort();
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
