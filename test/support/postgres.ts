/** PostgreSQL for tests: a database of a test file's own, or for tests that stop or freeze the server, a server. */
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { startPostgres } from '../../packages/embedded/postgres.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { type Owner, wholeFile } from './whole-file.ts';

/** An empty database on the server that all files of a run share (postgres-server.ts); nobody needs to drop it. */
export async function createDatabase(): Promise<{ url: string }> {
  return { url: await ask('database') };
}

/** A data folder with a cluster that was never started: a copy, because making one takes much longer. */
export async function folderWithCluster(t: Owner): Promise<string> {
  const dataDir = await temporaryFolder(t);
  // Its files belong to another account if this one is root.
  await promisify(execFile)('cp', ['-a', await neverStartedCluster(), dataDir]);
  return dataDir;
}

/** The folder of a cluster that was never started, to be copied. */
export const neverStartedCluster = (): Promise<string> => ask('cluster');

async function ask(what: 'database' | 'cluster'): Promise<string> {
  const answer = await text(connect(Number(process.env.TEST_POSTGRES_PORT), '127.0.0.1').end(what));
  if (answer === '') throw new Error('PostgreSQL did not start: see the output of the run');
  return answer;
}

/** A server of the test file's own, which comes back when it is killed; it ends after the last test. */
export async function startOwnPostgres(): Promise<{ url: string; dataDir: string }> {
  const dataDir = await folderWithCluster(wholeFile);
  const { url, stop } = await startPostgres({ dataDir, log: pino({ level: 'silent' }) });
  wholeFile.teardown(stop);
  return { url, dataDir };
}
