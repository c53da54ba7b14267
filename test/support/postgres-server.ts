// One PostgreSQL and one folder of temporary files for one run of the tests: ava.config.js forks this program, which sends
// it the folder and a port of 127.0.0.1. Whoever connects there and asks for a database is answered with the address of an
// empty one; who asks for a cluster, with the folder of one that has never been started, to be copied. Each is made for the
// first who asks. PostgreSQL is stopped and all files are deleted when the process of the run is gone.
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../packages/embedded/free-port.ts';
import { clusterFolder, openCluster, spawnPostmaster } from '../../packages/embedded/postgres/cluster.ts';

/** After a crash of the machine nobody asks for this data again. Databases of tests are gone before autovacuum helps. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '200',
};

/** What the databases and data folders of a run fill, about three times. */
const fewestFreeBytes = 4 * 2 ** 30;

const runEnded = new AbortController();
process.on('disconnect', () => runEnded.abort());
// Ctrl-C reaches every process of the terminal. This one ends after the run.
process.on('SIGINT', () => undefined);

const folder = await mkdtemp(join(await inMemory('/dev/shm', tmpdir()), 'ledger-tests-'));
/** Other accounts, as which tests run programs, come to it too. */
const temporary = join(folder, 'temporary');
await mkdir(temporary);
await Promise.all([chmod(folder, 0o711), chmod(temporary, 0o1777)]);
let starting: ReturnType<typeof startPostgres> | undefined;
let making: ReturnType<typeof makeCluster> | undefined;
let databases = 0;

const server = createServer({ allowHalfOpen: true }, async (socket) => {
  socket.on('error', () => undefined);
  try {
    if ((await text(socket)) === 'cluster') {
      making ??= makeCluster();
      socket.end(await making);
      return;
    }
    starting ??= startPostgres();
    const { url, client } = await starting;
    databases += 1;
    const database = new URL(url);
    database.pathname = `/test_${databases}`;
    // Copying files takes half of what writing the pages to the log would.
    await client.query(`create database test_${databases} strategy file_copy`);
    socket.end(database.href);
  } catch (error) {
    process.stderr.write(`Nothing for the test: ${String(error)}\n`);
    socket.destroy();
  }
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ port: (server.address() as AddressInfo).port, temporary });

if (!runEnded.signal.aborted) await once(runEnded.signal, 'abort');
const postgres = await starting?.catch(() => undefined);
await making?.catch(() => undefined);
await postgres?.stop();
await rm(folder, { recursive: true, force: true, maxRetries: 10 });
process.exit();

/** The first of the folders if it has room: there, files cost less to create and to delete. */
async function inMemory(memory: string, disk: string): Promise<string> {
  const { bsize, bavail } = await statfs(memory).catch(() => ({ bsize: 0, bavail: 0 }));
  return bsize * bavail < fewestFreeBytes ? disk : memory;
}

async function makeCluster(): Promise<string> {
  const home = join(folder, 'never-started');
  await mkdir(home);
  await openCluster(home, runEnded.signal);
  return clusterFolder(home).home;
}

async function startPostgres(): Promise<{ url: string; client: pg.Client; stop(): Promise<void> }> {
  const cluster = await openCluster(folder, runEnded.signal);
  // A password costs a hash for each connection. Accounts that tests make have one.
  const access = { ledger: 'trust', postgres: 'trust', all: 'scram-sha-256' };
  const lines = Object.entries(access).map(([user, method]) => `host all ${user} 127.0.0.1/32 ${method}\n`);
  await writeFile(join(cluster.pgData, 'pg_hba.conf'), lines.join(''));
  const port = await freePort();
  const postmaster = spawnPostmaster(cluster, port, settings);
  postmaster.stderr?.resume();
  const exited = once(postmaster, 'exit');
  const url = `postgres://ledger@127.0.0.1:${port}/ledger`;
  let client: pg.Client | undefined;
  while (!client) {
    client = await connect(url).catch((error: unknown) => {
      if (postmaster.exitCode !== null) throw error;
      return undefined;
    });
    if (!client) await sleep(25);
  }
  // The first connection to a database lists its catalogs in a file, which the copies of this one have from the start.
  await (await connect(new URL('/template1', url).href)).end();
  return {
    url,
    client,
    async stop() {
      postmaster.kill('SIGQUIT');
      await exited;
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
