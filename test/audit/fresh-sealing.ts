/** What a sealer needs, for one test alone. Not in ledger.ts, which child processes import too: they have no database. */
import type { ExecutionContext } from 'ava';
import { temporaryFolder } from '../embedded/helpers.ts';
import { createDatabase } from '../support/postgres.ts';
import { sealing } from './ledger.ts';

/** A database and a folder of the test's own: locks of leaders belong to one database. */
export async function freshSealing(t: ExecutionContext) {
  const folder = await temporaryFolder(t);
  const stores = sealing((await createDatabase()).url, folder);
  t.teardown(() => stores.db.destroy());
  return { ...stores, folder };
}
