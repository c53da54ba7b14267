// The processes that do what takes long: what their parent learns of how they ended.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { rebuildSchema } from '@ledger/projections/rebuild/progress.ts';
import test from 'ava';
import { createExecuteRequest } from '../../src/commands/projection-requests.ts';
import { ownCause } from '../../src/events/envelope.ts';
import { projectionStream } from '../../src/events/projection-requests.ts';
import { rebuildInProcess } from '../../src/roles/children.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { startStores } from '../projections/helpers.ts';
import { settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';
import { testRuntime } from '../support/runtime.ts';

const postgres = await createDatabase();

test('a rebuild that another process began first is left to it, and nothing has gone wrong', async (t) => {
  const { database, eventStore, store } = await startStores(t, postgres);
  const [runtime, name] = [testRuntime(), 'users'];
  await createExecuteRequest(eventStore)(
    name,
    { type: 'ProjectionRebuildRequested', data: { at: new Date().toISOString(), projection: name } },
    ownCause(randomUUID(), 'staff:aminah'),
  );
  const before = { ...process.env };
  t.teardown(() => {
    for (const variable of Object.keys(process.env)) if (!(variable in before)) delete process.env[variable];
  });
  Object.assign(process.env, settingsFor({ esdbUrl: store.url, databaseUrl: database.url }), {
    DATA_DIR: await temporaryFolder(t),
  });
  const { signal } = new AbortController();
  const rebuilding = { databaseUrl: database.url, name, runtime, signal };
  const types = async () => (await eventStore.load(projectionStream(name))).map(({ type }) => type);
  const doing = rebuildInProcess(rebuilding);
  // It has looked whether one is under way, and its process has not started yet.
  await sleep(100);
  const lock = { ...rebuilding, name: rebuildSchema(name) };
  const untilItEnds = () => doing.then(Boolean, Boolean);
  const holding = until(async () => (await leadNow(lock, async () => [await untilItEnds()])) ?? false);
  await t.notThrowsAsync(doing);
  await holding;
  t.deepEqual(await types(), ['ProjectionRebuildRequested'], 'still open');

  await rebuildInProcess(rebuilding);
  t.deepEqual(await types(), ['ProjectionRebuildRequested', 'ProjectionRebuilt']);
});
