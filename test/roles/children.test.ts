// The processes that do what takes long: what their parent learns of how they ended.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { rebuildSchema } from '@ledger/projections/rebuild/progress.ts';
import { RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import test from 'ava';
import { createExecuteRequest } from '../../src/commands/projection-requests.ts';
import { loadConfig } from '../../src/config/config.ts';
import { ownCause } from '../../src/events/envelope.ts';
import { rebuildInProcess } from '../../src/roles/children.ts';
import { until } from '../embedded/helpers.ts';
import { log, startStores } from '../projections/helpers.ts';
import { settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';
import { testRuntime } from '../support/runtime.ts';

const postgres = await createDatabase();

test('a rebuild that another process began first is under way, and nothing has gone wrong', async (t) => {
  const { database, eventStore, store } = await startStores(t, postgres);
  const [runtime, projection] = [testRuntime(), 'users'];
  await createExecuteRequest(eventStore)(
    projection,
    { type: 'ProjectionRebuildRequested', data: { at: new Date().toISOString(), projection } },
    ownCause(randomUUID(), 'staff:aminah'),
  );
  const config = loadConfig(settingsFor({ esdbUrl: store.url, databaseUrl: database.url }));
  const { signal } = new AbortController();
  const doing = rebuildInProcess(projection, { config, log, runtime, signal });
  // It has looked whether one is under way, and its process has not started yet.
  await sleep(100);
  const lock = { databaseUrl: database.url, name: rebuildSchema(projection), runtime, signal };
  const untilItEnds = () => doing.then(Boolean, Boolean);
  const holding = until(async () => (await leadNow(lock, async () => [await untilItEnds()])) ?? false);
  await t.throwsAsync(doing, { instanceOf: RebuildUnderWay });
  await holding;
});
