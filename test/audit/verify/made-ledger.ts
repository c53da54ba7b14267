/** What verifications are tried on: a sealed ledger whose projections have caught up. */
import { join } from 'node:path';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { PersonalData } from '@ledger/personal-data/personal-data.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { openStores } from '../../../src/roles/stores.ts';
import { createDeliveryList } from '../../../src/to-do/delivery-list.ts';
import { requeryList } from '../../../src/to-do/requery-list.ts';
import { temporaryFolder } from '../../embedded/helpers.ts';
import { caughtUp, log, run } from '../../projections/helpers.ts';
import { electionOn } from '../../support/leader-election.ts';
import { settingsFor } from '../../support/ledger.ts';
import { createDatabase } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { fill, filled, openStore, sealAll, sealing } from '../ledger.ts';

/**
 * The file of its event store, and its database with the keys in it, where the commands look for them: the tests of a file
 * take copies of both.
 */
export async function makeLedger(): Promise<{ file: string; template: URL }> {
  const folder = await temporaryFolder(wholeFile);
  const file = join(folder, 'eventstore.db');
  const template = new URL((await createDatabase()).url);
  const { eventStore, close } = await openStore(file);
  const settings = settingsFor({ esdbUrl: 'esdb://127.0.0.1:9', databaseUrl: template.href });
  const stores = openStores(loadConfig({ ...settings, DATA_DIR: folder }), log);
  await stores.personalData.start();
  await fill(eventStore, stores.personalData);
  await project(eventStore, template.href, stores.personalData);
  const place = sealing(template.href, folder);
  await sealAll(eventStore, place, filled);
  await place.db.destroy();
  await close();
  await stores.stop();
  return { file, template };
}

/** Runs all projections until they have caught up. */
export async function project(
  eventStore: EventStore,
  databaseUrl: string,
  personalData: PersonalData,
): Promise<void> {
  const db = connectPostgres({ url: databaseUrl, log });
  const projections = [...allProjections, createDeliveryList({ eventStore }), requeryList];
  const election = electionOn(databaseUrl);
  const runs = projections.map((projection) =>
    run(wholeFile, projection, { eventStore }, { db, url: databaseUrl }, { election, personalData }),
  );
  await caughtUp(projections, { eventStore }, { db });
  for (const run of runs) await run.stop();
  await db.destroy();
}
