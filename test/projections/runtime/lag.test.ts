// Whether a question may be answered from a projection's rows.
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { isReady, untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import test from 'ava';
import { createDatabase } from '../../support/postgres.ts';
import { eventCounts } from '../event-counts.ts';
import { append, paymentRequested, reached, run, startStore, startStores } from '../helpers.ts';

test('rows of another version, or made from a log that was replaced, answer no question', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, await createDatabase());
  const running = run(t, eventCounts, store, database);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  await running.stop();
  const isReadyOn = (log: typeof eventStore, projection: Projection = eventCounts) => {
    const sources = { db, eventStore: log, runtime: systemRuntime };
    return isReady(projection, { until: new Date(), waitMs: 0 }, sources);
  };
  t.true(await isReadyOn(eventStore));
  t.false(await isReadyOn(eventStore, { ...eventCounts, version: 2 }));
  const { eventStore: replaced } = await startStore(t);
  t.false(await isReadyOn(replaced));
});

test('whoever waits for a projection waits no longer once it has halted', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, await createDatabase());
  const running = run(t, eventCounts, store, database);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  await running.stop();
  await append(eventStore, 'B', [paymentRequested()]);
  const isCaughtUp = async (signal: AbortSignal) => {
    await untilCaughtUp(eventCounts, { db, eventStore, runtime: systemRuntime, signal });
    return !signal.aborted;
  };
  t.false(await isCaughtUp(AbortSignal.timeout(500)));
  await db('checkpoints').update({ fault: JSON.stringify({ message: 'no' }) });
  t.true(await isCaughtUp(AbortSignal.timeout(20_000)));
});
