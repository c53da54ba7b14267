// What each gauge says, also where no Prometheus evaluates the alert rules (test/e2e/alerts.test.ts).
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { recordVerified } from '../../src/audit/background-check/schedule.ts';
import { keptCheckpoints } from '../../src/audit/seals/kept-checkpoints.ts';
import { createSources } from '../../src/monitoring/metric-sources.ts';
import { append, startStores } from '../projections/helpers.ts';
import { requested } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';

const postgres = await createDatabase();

test('gauges of the machine, projections, seals, checks, erasures and deliveries', async (t) => {
  const { db, eventStore } = await startStores(t, postgres);
  const [first, last] = [
    await append(eventStore, 'A', [requested()]),
    await append(eventStore, 'B', [requested()]),
  ];
  const stored = (await eventStore.loadLast('payment-B'))?.created.getTime() ?? 0;
  const nowMs = stored + 90_000;
  const standing = { fault: null, parked: [], version: 1, at: null };
  const sources = createSources({
    db,
    eventStore,
    runtime: { now: () => new Date(nowMs), monotonicMs: () => 0, timeout: AbortSignal.timeout },
    folder: tmpdir(),
    witnesses: 2,
    clockDifferenceMs: () => -1_500,
    isReadOnly: async () => false,
    projections: ['new', 'behind', 'up to date', 'stopped'].map((name) => ({
      name,
      version: 1,
      streamPrefixes: ['payment-'],
    })),
    projectionStatus: async () => [
      { ...standing, name: 'behind', position: first },
      { ...standing, name: 'up to date', position: last, parked: ['payment-A'] },
      { ...standing, name: 'stopped', position: last, fault: 'It is full' },
    ],
  } as unknown as Parameters<typeof createSources>[0]);
  const { signal } = new AbortController();
  const read = async (source: keyof typeof sources) =>
    Object.fromEntries(
      (await sources[source](signal)).map(([gauge, value, label]) => [
        [gauge.replace('ledger_', ''), ...(label === undefined ? [] : [label])].join(' '),
        value,
      ]),
    );

  const machine = await read('machine');
  t.is(machine.clock_difference_seconds, -1.5);
  t.true(
    Number(machine.disk_free_bytes) > 0 && Number(machine.disk_free_bytes) < Number(machine.disk_size_bytes),
  );

  const projections = await read('projections');
  t.like(projections, {
    'projection_lag_events new': 2,
    'projection_lag_events behind': 1,
    'projection_lag_seconds behind': 90,
    'projection_lag_events up to date': 0,
    'projection_lag_seconds up to date': 0,
    'projection_parked_streams up to date': 1,
    'projection_parked_streams behind': 0,
  });
  const stopped = ['new', 'behind', 'up to date', 'stopped'].map(
    (name) => projections[`projection_stopped ${name}`],
  );
  t.deepEqual(stopped, [1, 0, 0, 1]);

  t.like(await read('seals'), { seal_unaccountable: 0, witnesses_missing: 0 });
  t.true(Number((await read('seals')).unsealed_seconds) >= 90);
  const kept = keptCheckpoints(db, join(tmpdir(), 'no-checkpoint'));
  await kept.createTable();
  await kept.refuse('The log does not agree with seal 3');
  t.like(await read('seals'), { seal_unaccountable: 1, unsealed_seconds: 0 });

  t.deepEqual(await read('check'), {});
  const violation = (count: number) => ({ kind: 'changed events', count, first: '' }) as const;
  await recordVerified(db, new Date(stored), { checked: [], violations: [violation(2), violation(3)] });
  t.deepEqual(await read('check'), { verify_age_seconds: 90, verify_violations: 5 });

  t.deepEqual(await read('erasures'), { erased_keys_returned: 0 });
  await db.raw(
    'create schema erased_keys; create table erased_keys.returned (at timestamptz not null default now(), keys integer not null)',
  );
  await db.raw('insert into erased_keys.returned (keys) values (3), (4)');
  t.deepEqual(await read('erasures'), { erased_keys_returned: 7 });

  t.is((await read('deliveries'))['deliveries_due email'], 0);
  await db.raw(`create schema reactor_deliveries;
    create table reactor_deliveries.deliveries (kind text, state text, due_at timestamptz)`);
  await db.raw(
    `insert into reactor_deliveries.deliveries values ('email', 'due', ?), ('item', 'abandoned', ?)`,
    [new Date(stored), new Date(stored)],
  );
  t.like(await read('deliveries'), {
    'deliveries_due email': 1,
    'deliveries_oldest_due_seconds email': 90,
    'deliveries_given_up email': 0,
    'deliveries_due item': 0,
    'deliveries_given_up item': 1,
  });
});
