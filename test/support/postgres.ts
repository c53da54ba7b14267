/** PostgreSQL for tests: a database of a test file's own, or for tests that stop or freeze the server, a server. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { startPostgres } from '../../packages/embedded/postgres.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { wholeFile } from './whole-file.ts';

/** An empty database on the server that all files of a run share (postgres-server.ts); nobody needs to drop it. */
export async function createDatabase(): Promise<{ url: string }> {
  const url = await text(connect(Number(process.env.TEST_POSTGRES_PORT), '127.0.0.1'));
  if (url === '') throw new Error('PostgreSQL did not start: see the output of the run');
  return { url };
}

/** A server of the test file's own, which comes back when it is killed; it ends after the last test. */
export async function startOwnPostgres(): Promise<{ url: string; dataDir: string }> {
  const dataDir = await temporaryFolder(wholeFile);
  const { url, stop } = await startPostgres({ dataDir, log: pino({ level: 'silent' }) });
  wholeFile.teardown(stop);
  return { url, dataDir };
}
