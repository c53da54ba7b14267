// Results that no payment took, in Postgres: one row each, resolved or not, the same after a replay.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { quarantineStream, resolutionStream, unmatchedStream } from '../../../src/events/unmatched.ts';
import { unmatched } from '../../../src/projections/unmatched/projection.ts';
import { query, until } from '../../embedded/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { reached, run, startStores, statusOf } from '../helpers.ts';

const postgres = await createDatabase();

const at = '2026-11-20T01:02:03.000Z';
const metadata = { schemaVersion: 2 };
const result = (reason: string, raw: Record<string, string> = {}) => ({
  id: randomUUID(),
  type: 'GatewayResultUnmatched',
  data: { at, channel: 'landreg', verified: true, reason, evidence: { plain: raw }, fingerprint: null },
  metadata,
});
const resolution = (revision: number, said: string) => ({
  id: randomUUID(),
  type: 'UnmatchedResultResolved',
  data: { at: '2026-11-21T00:00:00.000Z', revision, resolution: said, note: 'U+0000 \0 \ud800' },
  metadata,
});

const erasure = {
  id: randomUUID(),
  type: 'PersonalDataErased',
  data: { at: '2033-11-21T00:00:00.000Z', reason: 'retention', keys: [] },
  metadata,
};

test.serial('a row per result, without what was received; a replay changes nothing', async (t) => {
  await query(postgres.url, 'drop schema if exists unmatched cascade');
  const { database, store, db } = await startStores(t, postgres);
  const { append } = store.eventStore;
  const rows = () => db('unmatched.unmatched').orderBy('id');
  const first = run(t, unmatched, store, database);
  await append(unmatchedStream, [result('unreadable', { '\0': '\ud800' })], 'no_stream');
  await append(unmatchedStream, [result('unknown_transaction'), result('unknown_agency')], 0);
  await append(resolutionStream('1'), [resolution(1, 'refunded')], 'no_stream');
  const subject = 'x'.repeat(43);
  await append(quarantineStream(subject), [result('unknown_transaction')], 'no_stream');
  const handled = resolutionStream(`${subject}-0`);
  await append(handled, [resolution(0, 'settled')], 'no_stream');
  const { position } = await append(handled, [erasure], 0);
  await reached(db, 'unmatched', position);
  const common = { at: new Date(at), channel: 'landreg', verified: true, erased_at: null };
  const open = { ...common, resolution: null, resolved_at: null };
  const expected = [
    { ...open, id: '0', reason: 'unreadable' },
    {
      ...common,
      id: '1',
      reason: 'unknown_transaction',
      resolution: 'refunded',
      resolved_at: new Date('2026-11-21T00:00:00.000Z'),
    },
    { ...open, id: '2', reason: 'unknown_agency' },
    {
      ...common,
      id: `${subject}-0`,
      reason: 'unknown_transaction',
      resolution: 'settled',
      resolved_at: new Date('2026-11-21T00:00:00.000Z'),
      erased_at: new Date('2033-11-21T00:00:00.000Z'),
    },
  ];
  t.deepEqual(await rows(), expected);

  await first.stop();
  await db.raw('update checkpoints set commit_position = null, prepare_position = null');
  run(t, unmatched, store, database);
  await reached(db, 'unmatched', position);
  t.deepEqual(await rows(), expected);
});

test.serial('a word about a result that there is not parks its stream', async (t) => {
  await query(postgres.url, 'drop schema if exists unmatched cascade');
  const { database, store } = await startStores(t, postgres);
  await store.eventStore.append(resolutionStream('7'), [resolution(7, 'settled')], 'no_stream');
  run(t, unmatched, store, database);
  const parked = await until(async () => (await statusOf(database.db, 'unmatched'))?.parked[0] ?? false);
  t.like(parked, { stream: 'unmatched-7', revision: 0, type: 'UnmatchedResultResolved' });
});
