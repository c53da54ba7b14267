/** The PostgreSQL cluster in the data folder: created completely or not at all, and run by one postmaster at a time. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { syncToDisk } from '@ledger/kernel/whole-file.ts';
import { type Account, clusterAccount, clusterBinaries } from './binaries.ts';

const run = promisify(execFile);

type Cluster = Awaited<ReturnType<typeof openCluster>>;

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Otherwise the log quotes whole rows that a table refused, and with them personal data.
  log_error_verbosity: 'terse',
};

// PostgreSQL's own rules for sorting and case, so that no upgrade of the system's C library changes an index.
// "trust" is safe here: no server listens before hostBasedAccess replaces it.
const initdbFlags = [
  '--username=postgres',
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** Only the role `ledger` may connect: over TCP from this machine, with the password. */
const hostBasedAccess = 'host all ledger 127.0.0.1/32 scram-sha-256\n';

/** Where a data folder keeps its cluster and, next to it, the password. */
export function clusterFolder(dataDir: string) {
  const home = join(resolve(dataDir), 'postgres');
  return { home, pgData: join(home, 'data'), passwordFile: join(home, 'password') };
}

/** Opens the cluster of a data folder, and creates it if there is none. `signal` aborts the creation. */
export async function openCluster(dataDir: string, signal: AbortSignal) {
  const { home, pgData, passwordFile } = clusterFolder(await realpath(dataDir));
  await removeUnfinished(home);
  if (!existsSync(home)) await createCluster(home, signal);
  const account = await clusterAccount(pgData);
  const binaries = await clusterBinaries(account);
  const password = await readFile(passwordFile, 'utf8');
  // With one that cannot be sent, the guard would ask for ever whether PostgreSQL answers.
  if (!/^[\w-]+$/.test(password)) throw new Error(`${passwordFile} is damaged: it does not hold a password.`);
  return { pgData, password, binaries, account };
}

/** Starts a postmaster on `port`; it logs to stderr. `changes` override settings. */
export function spawnPostmaster(
  cluster: Cluster,
  port: number,
  changes: Readonly<Record<string, string>> = {},
): ChildProcess {
  const flags = Object.entries({ ...settings, ...changes, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const { folder, options } = processIn(cluster.pgData, cluster.account);
  return spawn(cluster.binaries.postgres, ['-D', folder, ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Removes drafts: a crash during the creation leaves a draft, never half a cluster. */
async function removeUnfinished(home: string): Promise<void> {
  const drafts = (await readdir(dirname(home))).filter((name) => name.startsWith(`${basename(home)}.new-`));
  for (const draft of drafts) {
    // With retries, because an initdb whose guard was killed may still be writing there.
    await rm(join(dirname(home), draft), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function createCluster(home: string, signal: AbortSignal): Promise<void> {
  const draft = await mkdtemp(`${home}.new-`);
  const pgData = join(draft, 'data');
  await mkdir(pgData, { mode: 0o700 });
  const account = await clusterAccount(pgData);
  const { initdb, postgres } = await clusterBinaries(account);
  const { folder, options } = processIn(pgData, account);
  await run(initdb, ['-D', folder, ...initdbFlags], { ...options, signal });
  const password = randomBytes(24).toString('base64url');
  await runStatements(postgres, folder, { ...options, signal }, [
    `create role ledger login createdb password '${password}'`,
    'create database ledger owner ledger',
  ]);
  await writeFile(join(pgData, 'pg_hba.conf'), hostBasedAccess, { flush: true });
  await writeFile(join(draft, 'password'), password, { mode: 0o600, flush: true });
  syncToDisk(draft);
  await rename(draft, home);
  // Otherwise a power cut could turn the cluster into a draft again, which the next start removes.
  syncToDisk(dirname(home));
}

/** Runs statements in a cluster while no server is running. */
async function runStatements(
  postgres: string,
  folder: string,
  options: ReturnType<typeof processIn>['options'] & { signal: AbortSignal },
  statements: readonly string[],
): Promise<void> {
  const running = run(postgres, ['--single', '-D', folder, '-c', 'exit_on_error=on', 'postgres'], options);
  running.child.stdin?.end(`${statements.join('\n')}\n`);
  await running;
}

/**
 * How to start a program on a cluster. Another account may have no access to the path of the cluster (/root and the
 * data folder are 0700). So the program starts in the folder and finds the cluster as its working directory, which
 * every PostgreSQL process keeps.
 */
function processIn(pgData: string, account: Account | undefined) {
  return {
    folder: account ? '/proc/self/cwd' : pgData,
    // The environment is left out: PG… variables would have an effect, and the ledger's secrets do not belong here.
    options: { cwd: pgData, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...account },
  };
}
