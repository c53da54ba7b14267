/** PostgreSQL for tests: a database of a test file's own, or for tests that stop or freeze the server, a server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { pino } from 'pino';
import { startPostgres } from '../../packages/embedded/postgres.ts';

/** An empty database on the server that all files of a run share (postgres-server.ts); nobody needs to drop it. */
export async function createDatabase(): Promise<{ url: string }> {
  const url = await text(connect(Number(process.env.TEST_POSTGRES_PORT), '127.0.0.1'));
  if (url === '') throw new Error('PostgreSQL did not start: see the output of the run');
  return { url };
}

/** A server of the test file's own, which comes back when it is killed; it ends after the last test. */
export async function startOwnPostgres(): Promise<{ url: string; dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ledger-postgres-'));
  const { url, stop } = await startPostgres({ dataDir, log: pino({ level: 'silent' }) });
  test.after.always(async () => {
    await stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  return { url, dataDir };
}
