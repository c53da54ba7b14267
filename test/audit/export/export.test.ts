// `ledger export` on running stores: complete, in order and verifiable, or not made at all.
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventStore, Position } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'csv-parse/sync';
import {
  beginExport,
  type Export,
  ExportImpossible,
  isAskedFor,
  readExportRequest,
} from '../../../src/audit/export/export.ts';
import { verifyFile } from '../../../src/audit/verify/export-file.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { temporaryFolder } from '../../embedded/helpers.ts';
import {
  append,
  type Database,
  emptyDatabase,
  type RunningStore,
  reached,
  run,
  startStore,
} from '../../projections/helpers.ts';
import { runLedger, settingsFor } from '../../support/ledger.ts';
import { applied, plain, request, result } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { stored } from '../helpers.ts';

const postgres = await createDatabase();

const november = { from: '2026-11-01', to: '2026-11-30' };

type Asked = { id: string; at?: string; merchant?: string; description?: string };

async function ask(store: EventStore, { id, at, merchant = 'council', description = '' }: Asked) {
  const data = request({
    transactionId: id,
    description,
    merchant: { code: merchant, id: 7, name: 'Council' },
    ...(at !== undefined && { at }),
  });
  const events = stored([{ type: 'PaymentRequested', data }, applied(result(1, 'failed'))], id);
  return (await store.append(paymentStream(id), events, 'no_stream')).position;
}

/** Appends all of them, some at a time; resolves to the last position. */
async function askAll(store: EventStore, all: readonly Asked[]): Promise<Position> {
  let last: Position | undefined;
  for (let at = 0; at < all.length; at += 100) {
    const group = all.slice(at, at + 100);
    const positions = await Promise.all(group.map((each) => ask(store, each)));
    last = positions.reduce((one, other) => (one.commit > other.commit ? one : other));
  }
  if (!last) throw new Error('Nothing was asked for');
  return last;
}

async function start(t: ExecutionContext): Promise<{ store: RunningStore; database: Database }> {
  // On a busy machine, an append of 50 kilobytes may take longer than the program allows.
  const deadlines = { callDeadlineMs: 60_000, giveUpAfterMs: 120_000 };
  return { store: await startStore(t, deadlines), database: await emptyDatabase(postgres) };
}

async function textOf({ pieces }: Export): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

test.serial(
  'every payment of the range, with all its events, in the order of request; nothing else',
  async (t) => {
    const { store, database } = await start(t);
    const { eventStore } = store;
    const inside = Array.from({ length: 603 }, (_, index) => ({
      // Several in the same millisecond, so that a page ends between them; the ids in another order than the times.
      id: `P${String(7_919 * index).padStart(8, '0')}`,
      at: new Date(Date.parse('2026-11-20T00:00:00.000Z') - Math.floor(index / 7)).toISOString(),
    }));
    const last = await askAll(eventStore, [
      { id: 'BEFORE', at: '2026-10-31T15:59:59.999Z' },
      { id: 'FIRST', at: '2026-10-31T16:00:00.000Z' },
      ...inside,
      { id: 'LAST', at: '2026-11-30T15:59:59.999Z' },
      { id: 'AFTER', at: '2026-11-30T16:00:00.000Z' },
      { id: 'OTHER', at: '2026-11-10T00:00:00.000Z', merchant: 'other' },
    ]);
    run(t, payments, store, database);
    await reached(database.db, 'payments', last);
    const dependencies = { eventStore, db: database.db, personalData, runtime: systemRuntime };
    const request = readExportRequest({ ...november, merchant: 'council' }, null);
    const exported = await beginExport(request, dependencies);
    const text = await textOf(exported);
    const path = join(await temporaryFolder(t), 'export.jsonl');
    await writeFile(path, text);
    const verdict = await verifyFile(path);
    t.is(verdict.violation, null);
    const { plainAfterErasure, ...totals } = exported.totals();
    t.like(verdict, totals);
    t.is(plainAfterErasure, 0);
    t.is(verdict.payments, 605);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ids = lines.filter(({ revision }) => revision === 0).map(({ data }) => data.transactionId);
    const expected = inside.toSorted((one, other) => (one.at + one.id < other.at + other.id ? -1 : 1));
    t.deepEqual(ids, ['FIRST', ...expected.map(({ id }) => id), 'LAST']);
    const [kept] = await eventStore.load('payment-FIRST');
    t.like(lines[1], {
      stream: 'payment-FIRST',
      id: kept?.id,
      type: kept?.type,
      created: kept?.created.toISOString(),
      position: { commit: String(kept?.position.commit), prepare: String(kept?.position.prepare) },
    });
    t.deepEqual(lines[1].metadata, kept?.metadata);
    const again = await textOf(await beginExport({ ...request, format: 'csv' }, dependencies));
    const rows: { transaction_id: string }[] = parse(again, { bom: true, columns: true });
    t.deepEqual(
      rows.map((row) => row.transaction_id),
      ids,
      'the CSV has the same payments in the same order',
    );
    const all = await beginExport(readExportRequest(november, null), dependencies);
    await textOf(all);
    t.is(all.totals().payments, 606, 'of all merchants');
  },
);

test.serial('personal data are exported only when asked for, and the file verifies either way', async (t) => {
  const { store, database } = await start(t);
  const { eventStore } = store;
  const [event] = personalData.seal('payment-S', [
    { type: 'PaymentRequested', data: request({ transactionId: 'S' }) },
  ]);
  if (!event) return t.fail();
  const last = await append(eventStore, 'S', [event]);
  run(t, payments, store, database);
  await reached(database.db, 'payments', last);
  const dependencies = { eventStore, db: database.db, personalData, runtime: systemRuntime };
  const folder = await temporaryFolder(t);
  for (const opened of ['', 'yes']) {
    const text = await textOf(
      await beginExport(readExportRequest({ ...november, opened }, null), dependencies),
    );
    t.is(text.includes('Aminah binti Ismail'), opened === 'yes');
    const path = join(folder, `export${opened}.jsonl`);
    await writeFile(path, text);
    t.like(await verifyFile(path), { violation: null, events: 1 });
  }
  t.throws(() => readExportRequest({ ...november, format: 'csv', opened: 'yes' }, null), {
    name: 'InvalidFields',
  });
});

test.serial('what an earlier release wrote is exported even after an erasure, and counted', async (t) => {
  const { store, database } = await start(t);
  const { personal, fingerprint: _, emailReceipt: __, ...data } = request({ transactionId: 'V1' });
  const first = { type: 'PaymentRequested', data: { ...data, ...plain(personal) } };
  const [, erased] = stored(
    [
      { type: 'PaymentRequested', data: request({ transactionId: 'V1' }) },
      { type: 'PersonalDataErased', data: { at: data.at, reason: 'requested', keys: [] } },
    ],
    'V1',
  );
  if (!erased) return t.fail();
  const old = { ...first, id: randomUUID(), metadata: { schemaVersion: 1, hash: 'h' } };
  const { position } = await store.eventStore.append(paymentStream('V1'), [old, erased], 'no_stream');
  run(t, payments, store, database);
  await reached(database.db, 'payments', position);
  const dependencies = {
    eventStore: store.eventStore,
    db: database.db,
    personalData,
    runtime: systemRuntime,
  };
  const exported = await beginExport(readExportRequest(november, null), dependencies);
  t.true((await textOf(exported)).includes('Aminah binti Ismail'));
  t.like(exported.totals(), { payments: 1, plainAfterErasure: 1 });
});

test.serial('an empty range is a complete export of nothing', async (t) => {
  const { store, database } = await start(t);
  const last = await ask(store.eventStore, { id: 'P' });
  run(t, payments, store, database);
  await reached(database.db, 'payments', last);
  const dependencies = {
    eventStore: store.eventStore,
    db: database.db,
    personalData,
    runtime: systemRuntime,
  };
  const request = readExportRequest({ from: '2026-01-01', to: '2026-01-31' }, null);
  const path = join(await temporaryFolder(t), 'export.jsonl');
  await writeFile(path, await textOf(await beginExport(request, dependencies)));
  t.like(await verifyFile(path), { violation: null, events: 0, payments: 0 });
  const csv = await textOf(await beginExport({ ...request, format: 'csv' }, dependencies));
  t.is(csv.split('\r\n').length, 2, 'the names of the columns, and nothing below');
});

test.serial('no export is made when the read model is behind or a stream is missing', async (t) => {
  const { store, database } = await start(t);
  const { eventStore } = store;
  const dependencies = { eventStore, db: database.db, personalData, runtime: systemRuntime };
  const request = readExportRequest(november, null);
  const last = await ask(eventStore, { id: 'P1' });
  const projection = run(t, payments, store, database);
  await reached(database.db, 'payments', last);
  await projection.stop();
  await ask(eventStore, { id: 'P2' });
  await t.throwsAsync(beginExport(request, dependencies), {
    instanceOf: ExportImpossible,
    message: /behind/,
  });
  const past = readExportRequest({ from: '2020-01-01', to: '2020-12-31' }, null);
  await t.notThrowsAsync(beginExport(past, dependencies), 'what is behind came long after that span');
  const waiting = beginExport(request, dependencies);
  const running = run(t, payments, store, database);
  const caughtUp = await waiting;
  await textOf(caughtUp);
  t.is(caughtUp.totals().payments, 2, 'it waits for a projection that catches up');
  await running.stop();
  await database.db.raw("update payments.payments set transaction_id = 'GONE' where transaction_id = 'P2'");
  await t.throwsAsync(textOf(await beginExport(request, dependencies)), {
    instanceOf: ExportImpossible,
    message: 'The stream of payment GONE is missing from the event store',
  });
});

test.serial(
  '15 MB of payments are exported without being held in memory, into a file that is complete or does not exist',
  async (t) => {
    const { store, database } = await start(t);
    const all = Array.from({ length: 300 }, (_, index) => ({
      id: `P${String(index).padStart(6, '0')}`,
      description: 'x'.repeat(50_000),
      ...(index === 0 && { at: '2026-11-05T01:00:00.000Z' }),
    }));
    const last = await askAll(store.eventStore, all);
    const following = run(t, payments, store, database);
    await reached(database.db, 'payments', last);
    const folder = await temporaryFolder(t);
    const path = join(folder, 'november.jsonl');
    const settings = {
      ...settingsFor({ esdbUrl: store.url, databaseUrl: database.url }),
      DATA_DIR: folder,
    };
    // The program takes 25 MB of it. If it kept its lines instead of writing them it would need 39 MB.
    const nodeOptions = ['--max-old-space-size=36'];
    const command = ['export', '--from', '2026-11-01', '--to', '2026-11-30', '--output'];
    const { stderr, stdout } = await runLedger([...command, path], settings, { nodeOptions });
    t.is(stdout, '');
    const verdict = await verifyFile(path);
    t.like(verdict, { violation: null, payments: 300, events: 600 });
    t.true(
      stderr.endsWith(`300 payments with 600 events. Checksum of the last line: ${verdict.checksum}\n`),
      stderr,
    );
    t.is((await stat(path)).mode & 0o077, 0, 'for the eyes of one account');
    const refused = await runLedger([...command, path], settings);
    t.is(refused.code, 2, `what is there is not written over: ${refused.output}`);
    const mistyped = await runLedger([...command, `${path}.2`, '--merchant', 'concil'], settings);
    t.is(mistyped.code, 2, mistyped.output);
    t.true(mistyped.stderr.startsWith('No merchant has the code concil\n'), mistyped.stderr);
    const wrong = async (...args: string[]) => (await runLedger(['export', ...args], settings)).stderr;
    const reversed = await wrong('--from', '2026-11-30', '--to', '2026-11-01');
    t.true(reversed.startsWith('--to must be later than the beginning\n'), reversed);
    const opened = await wrong(...command.slice(1, -1), '--format', 'csv', '--with-personal-data');
    t.true(opened.startsWith('a CSV file holds nothing about payers\n'), opened);
    const oneDay = ['export', '--from', '2026-11-05', '--to', '2026-11-05', '--output'];
    const former = await runLedger([...oneDay, `${path}.3`, '--merchant', 'council'], settings);
    t.true(former.stderr.startsWith('1 payment with 2 events'), former.stderr);
    await rm(`${path}.3`);
    await following.stop();
    const rename = (from: string, to: string) =>
      database.db.raw(
        `alter schema ${from} rename to ${to}; update checkpoints set name = '${to}' where name = '${from}'`,
      );
    await rename('payments', 'away');
    const early = await runLedger([...command, `${path}.4`, '--merchant', 'council'], settings);
    t.true(early.stderr.startsWith('The read model of payments is behind'), early.stderr);
    await rename('away', 'payments');
    await database.db.raw(
      "update payments.payments set transaction_id = 'P000149Z' where transaction_id = 'P000150'",
    );
    const broken = join(folder, 'broken.csv');
    const failed = await runLedger([...command, broken, '--format', 'csv'], settings);
    t.is(failed.code, 1, failed.stderr);
    t.true(
      failed.stderr.endsWith('The stream of payment P000149Z is missing from the event store.\n'),
      failed.stderr,
    );
    t.deepEqual((await readdir(folder)).toSorted(), ['november.jsonl']);
  },
);

test('a range that makes no sense is refused', (t) => {
  for (const [given, fault] of [
    [{}, /^from must be a time/],
    [{ from: '2026-11-01' }, /^to must be a time/],
    [{ from: '2026-11-02', to: '2026-11-01' }, /^to must be later than the beginning/],
    [{ from: '2026-11-01T10:00', to: '2026-11-01T10:00' }, /^to must be later than the beginning/],
    [{ ...november, format: 'xml' }, /^format must be/],
  ] as const)
    t.throws(() => readExportRequest(given, null), { message: fault });
  t.deepEqual(readExportRequest({ from: '2026-11-01', to: '2026-11-01' }, null).span, {
    start: '2026-10-31T16:00:00.000Z',
    end: '2026-11-01T16:00:00.000Z',
  });
  t.deepEqual(readExportRequest({ from: '2026-11-01 10:00', to: '2026-11-01T10:30+08:00' }, null).span, {
    start: '2026-11-01T02:00:00.000Z',
    end: '2026-11-01T02:30:00.000Z',
  });
});

for (const [label, isAsked] of [
  ['2026-11-01T00:00:00Z council', true],
  ['2026-11-30T23:59:59.999Z council', true],
  ['2026-10-31T23:59:59.999Z council', false],
  ['2026-12-01T00:00:00.000Z council', false],
  ['2026-11-01T00:00:00.000Z council hall', false],
  ['2026-11-01T00:00:00.000Z coun', false],
  ['2026-11-01T00:00:00.000Z', false],
  ['', false],
] as const)
  test(`of one merchant a payment with the label "${label}" is ${isAsked ? '' : 'not '}asked for`, (t) => {
    const range = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00Z' };
    t.is(isAskedFor(label, { ...range, merchant: 'council' }), isAsked);
    const isInTime = label !== '' && !/-10-|-12-/.test(label);
    t.is(isAskedFor(label, { ...range, merchant: null }), isInTime);
  });
