/** The real PostgreSQL of a run of the simulator: a server of its own, of which each simulation gets a database. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { openCluster, spawnPostmaster } from '../../../packages/embedded/postgres/cluster.ts';

/**
 * Nothing may happen by itself: without autovacuum the rows lie, and queries are planned, in one way only. A crash of
 * the machine loses the data, which nobody asks for again.
 */
const settings = {
  listen_addresses: '',
  // The data folder.
  unix_socket_directories: '.',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '1h',
  max_wal_size: '4GB',
  io_method: 'sync',
  autovacuum: 'off',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  max_connections: '200',
  // Who closes a circle gives up: after a second of the real time, it might be another.
  deadlock_timeout: '1ms',
};

/** Who has this role can write nothing: sessions for which the disk is full. */
export const noRoom = 'no_room';

/** Part of the name of its socket. */
const port = 5432;

export type PostgresServer = {
  socketPath: string;
  /** Runs a statement as the owner of everything. */
  query(sql: string, values?: unknown[]): Promise<pg.QueryResult>;
  stop(): Promise<void>;
};

/** SIMULATION_CLUSTER may name a folder with a cluster that was never started. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-simulation-'));
  const { SIMULATION_CLUSTER: made } = process.env;
  // Making one takes a third of a short simulation. Its files belong to another account if this one is root.
  if (made) await promisify(execFile)('cp', ['-a', made, folder]);
  const cluster = await openCluster(folder, new AbortController().signal);
  // No password, which would cost a hash for each of thousands of connections. Nobody else can reach the socket.
  await writeFile(join(cluster.pgData, 'pg_hba.conf'), 'local all all trust\n');
  const postmaster = spawnPostmaster(cluster, port, settings);
  postmaster.stderr?.resume();
  const exited = once(postmaster, 'exit');
  const stop = async () => {
    postmaster.kill('SIGQUIT');
    await exited;
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  process.once('exit', () => postmaster.kill('SIGQUIT'));
  try {
    const client = await connect(cluster.pgData, postmaster);
    await createRole(cluster.pgData);
    return {
      socketPath: join(cluster.pgData, `.s.PGSQL.${port}`),
      query: (sql, values) => client.query(sql, values),
      async stop() {
        await client.end();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createRole(host: string): Promise<void> {
  const client = new pg.Client({ host, port, user: 'postgres', database: 'ledger' });
  await client.connect();
  await client.query(`create role ${noRoom} in role pg_read_all_data role ledger`);
  await client.end();
}

async function connect(host: string, postmaster: { exitCode: number | null }): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client({ host, port, user: 'ledger', database: 'ledger' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (postmaster.exitCode !== null) throw error;
      await sleep(25);
    }
  }
}
