// `verify` as a whole: tampering with the read models is reported by table and key, and so are rows that a tampered log
// no longer explains.
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { PersonalData } from '@ledger/personal-data/personal-data.ts';
import { sealedValuesOf } from '@ledger/personal-data/sealed.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { forAll, type KeyTerm } from '@ledger/transparency-log/key.ts';
import test, { type ExecutionContext } from 'ava';
import { secondLookMs } from '../../../src/audit/verify/read-models.ts';
import { progressFile } from '../../../src/audit/verify/resume.ts';
import { verify } from '../../../src/audit/verify/verify.ts';
import { createViolations, type VerifyProgress } from '../../../src/audit/verify/violations.ts';
import { reportText } from '../../../src/cli/verify.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { sealsStream } from '../../../src/events/seals.ts';
import { createErase } from '../../../src/personal-data/erase.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { openStores } from '../../../src/roles/stores.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { requeryList } from '../../../src/to-do/requery-list.ts';
import { query, temporaryFolder } from '../../embedded/helpers.ts';
import { log } from '../../projections/helpers.ts';
import { settingsFor } from '../../support/ledger.ts';
import { testRuntime } from '../../support/runtime.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { filled, key, otherKey, paymentId, projectId, tampered, userId } from '../ledger.ts';
import { changeEvent, remove, replace, streamIn } from '../tamper.ts';
import { makeLedger, project } from './made-ledger.ts';

const { file, template } = await makeLedger();
const admin = connectPostgres({ url: new URL('/postgres', template).href, log });
wholeFile.teardown(() => admin.destroy());

type Copy = { eventStore: EventStore; url: string; personalData: PersonalData };

type Edits = {
  sql?: string;
  log?: Parameters<typeof tampered>[2];
  now?: string;
  trusted?: readonly KeyTerm[];
  seesRows?: boolean;
  before?: (copy: Copy) => Promise<void>;
  /** While it waits until it compares rows that differ again. */
  meanwhile?: (copy: Copy) => Promise<void>;
  /** Earlier runs, interrupted at this step once that many were done. */
  interruptedAt?: readonly (readonly [step: string, done: number])[];
};

/** What `verify` says of a copy of the ledger that was edited. */
async function verdictAfter(
  t: ExecutionContext,
  { sql, log: edit = () => {}, now, trusted, seesRows = true, before, meanwhile, interruptedAt = [] }: Edits,
) {
  const url = new URL(template);
  url.pathname = `/copy_${randomUUID().replaceAll('-', '')}`;
  const names = [url, template].map(({ pathname }) => pathname.slice(1));
  await admin.raw('create database ?? template ?? strategy file_copy', names);
  const { dataKeys } = loadConfig(settingsFor({ esdbUrl: 'esdb://127.0.0.1:9', databaseUrl: url.href }));
  const copy = openStores({ esdbUrl: 'esdb://127.0.0.1:9', databaseUrl: url.href, dataKeys }, log);
  t.teardown(() => copy.stop());
  const { db, personalData } = copy;
  if (sql) await db.raw(sql);
  const { eventStore } = await tampered(t, file, edit);
  const edited = { eventStore, url: url.href, personalData };
  await before?.(edited);
  let monotonicMs = 0;
  const runtime = testRuntime({
    async sleep(ms, signal) {
      if (ms !== secondLookMs) return await systemRuntime.sleep(ms, signal);
      await meanwhile?.(edited);
    },
    now: () => new Date(now ?? '2026-11-20T02:00:00.000Z'),
    // Where a run is interrupted, it saves how far it is at every step.
    monotonicMs: () => (monotonicMs += interruptedAt.length > 0 ? 5_000 : 0),
  });
  const path = join(await temporaryFolder(t), 'verify-progress.json');
  const progress = progressFile(path, 'a key', runtime);
  const given = {
    eventStore,
    db,
    databaseUrl: url.href,
    trusted: trusted ?? [forAll(key.publicKey)],
    runtime,
    log,
  };
  const run = async (signal: AbortSignal, onProgress: (progress: VerifyProgress) => void) =>
    await verify(
      { ...given, personalData: seesRows ? personalData : null, demandsRows: true, progress, signal },
      onProgress,
    );
  for (const [stop, after] of interruptedAt) {
    const interrupted = new AbortController();
    const reason = new Error('Interrupted');
    const ended = run(interrupted.signal, ({ step, done }) => {
      if (step === stop && done >= after) interrupted.abort(reason);
    });
    await t.throwsAsync(ended, { message: /Interrupted|was interrupted/ });
  }
  const steps: VerifyProgress[] = [];
  const report = await run(new AbortController().signal, (step) => steps.push(step));
  const violations = Object.fromEntries(report.violations.map(({ kind, first }) => [kind, first]));
  return { report, violations, steps, progress };
}

test.serial('a ledger that nobody touched: everything is counted, and there are no violations', async (t) => {
  const { report } = await verdictAfter(t, {});
  t.deepEqual(report.violations, []);
  t.deepEqual(report.notes, []);
  const counts = Object.fromEntries(report.checked.map(({ what, count }) => [what, count]));
  t.is(counts['events, each with its hash and its place in its stream'], filled);
  t.is(counts['payments, each with a receipt if it is paid'], 9);
  t.is(counts['rows of users against a fresh fold'], 1);
  t.true((counts['rows of payments against a fresh fold'] ?? 0) >= 9);
  t.true((counts['rows of reactor_deliveries against a fresh fold'] ?? 0) >= 18);
  for (const { name } of [...allProjections, deliveryList, requeryList])
    t.true(Object.hasOwn(counts, `rows of ${name} against a fresh fold`), name);
  t.true(reportText(report).endsWith('Everything that was checked is as it was written.'));
});

test.serial(
  'an interrupted verification goes on from the seal and the projection that it had reached',
  async (t) => {
    const edits: Edits = {
      log: (sqlite) =>
        changeEvent(
          sqlite,
          { stream: paymentStream(paymentId(1)), revision: 0 },
          replace('"amountSen":12050', '"amountSen":92050'),
        ),
      sql: `update details.generic_details set merchant_code = 'other' where transaction_id = '${paymentId(4)}'`,
    };
    const whole = await verdictAfter(t, edits);
    t.is(whole.report.violations.length >= 3, true, JSON.stringify(whole.violations));
    const waits = whole.steps.filter(({ step }) => step.startsWith('rows to compare again'));
    t.is(waits.length, 1, 'one wait for all projections that differ');
    const fromLog = await verdictAfter(t, { ...edits, interruptedAt: [['events of the log', 23]] });
    t.is(fromLog.steps[0]?.done, 21, 'the fourth seal covers 20 events');
    t.is(fromLog.steps[0]?.share, 21 / filled);
    const resumed =
      'A run that began at 2026-11-20T02:00:00.000Z and was interrupted had verified the first 20 events and the rows of 0 read models.';
    t.deepEqual(fromLog.report, { ...whole.report, notes: [resumed, ...whole.report.notes] });

    const twice = await verdictAfter(t, {
      ...edits,
      interruptedAt: [
        ['events of the log', 7],
        ['events for projects', 1],
      ],
    });
    const names = new Set(twice.steps.map(({ step }) => step));
    t.false(names.has('events for users'), [...names].join());
    t.true(names.has('events for projects'));
    t.true(names.has('events for payments'), 'its rows differed, and were not compared for the second time');
    t.deepEqual({ ...twice.report, notes: [] }, { ...whole.report, notes: [] });
    t.regex(twice.report.notes[0] ?? '', / and the rows of [1-9]\d* read models\.$/);
  },
);

test.serial(
  'what was interrupted is verified anew after half a day, with other keys, or if its file was changed',
  async (t) => {
    const edits: Edits = { seesRows: false, interruptedAt: [['events of the log', 23]] };
    const { progress } = await verdictAfter(t, edits);
    const trusted = [forAll(key.publicKey)];
    const saved = progress.load(trusted);
    t.is(saved?.log?.events, 45);
    t.is(progress.load([forAll(otherKey.publicKey)]), null);
    const path = join(await temporaryFolder(t), 'verify-progress.json');
    const at = (now: string, dataKey = 'a key') =>
      progressFile(path, dataKey, testRuntime({ now: () => new Date(now) }));
    t.is(at('2026-11-20T03:00:00.000Z').load(trusted), null);
    for (const text of ['', '{}']) {
      await writeFile(path, text);
      t.is(at('2026-11-20T03:00:00.000Z').load(trusted), null);
    }
    if (!saved) return t.fail();
    at('2026-11-20T03:00:00.000Z').save(() => saved, true);
    t.deepEqual(at('2026-11-20T03:00:00.000Z').load(trusted), saved);
    t.is(at('2026-11-20T03:00:00.000Z', 'another key').load(trusted), null);
    t.is(at('2026-11-20T14:00:00.000Z').load(trusted), null);
    // Somebody who writes to the folder has a read model skipped.
    const text = await readFile(path, 'utf8');
    const skipped = { ...saved, rows: { ...saved.rows, payments: { checked: null, violations: [] } } };
    for (const forged of [
      JSON.stringify(skipped),
      `${text.split('\n')[0]}\n${JSON.stringify(skipped)}`,
      text.replace('"violations":[]', '"violations": []'),
    ]) {
      await writeFile(path, forged);
      t.is(at('2026-11-20T03:00:00.000Z').load(trusted), null);
    }
  },
);

const id = paymentId(4);

test.serial('rows edited, removed and inserted, in every projection', async (t) => {
  const { violations } = await verdictAfter(t, {
    sql: `
      update payments.payments set status = 'failed' where transaction_id = '${id}';
      update reactor_deliveries.deliveries set lease_until = now(), leased_by = 'me';
      update reactor_deliveries.deliveries set attempts = 7 where transaction_id = '${id}';
      update reactor_requeries.requeries set lease_until = now(), leased_by = 'me', counted = 7, wake_at = now();
      update reactor_requeries.requeries set due_at = '2001-01-01' where transaction_id = '${id}';
      delete from details.generic_details where transaction_id = '${id}';
      update users.users set state = jsonb_set(state::jsonb, '{role}', '"admin"')::json;
      delete from projects.projects;
      update unmatched.unmatched set verified = false;
      insert into journal.books select 'FORGED', revision, reference, receipt_no, state, opened from journal.books limit 1;
    `,
  });
  t.is(violations['rows of payments.payments'], `The row ${id} is not what the events lead to (status)`);
  t.regex(
    violations['rows of reactor_deliveries.deliveries'] ?? '',
    new RegExp(`^The row ${id} callback is not .* \\(attempts\\)$`),
  );
  t.is(
    violations['rows of reactor_requeries.requeries'],
    `The row ${id} is not what the events lead to (due_at)`,
  );
  t.is(violations['rows of details.details'], `The row ${id} is missing`);
  t.is(violations['rows of users.users'], `The row ${userId} is not what the events lead to (state)`);
  t.is(violations['rows of projects.projects'], `The row ${projectId} is missing`);
  t.regex(
    violations['rows of unmatched.unmatched'] ?? '',
    /^The row [\w-]{43}-0 is not what the events lead to \(verified\)$/,
  );
  t.is(violations['rows of journal.books'], 'The row FORGED exists, and no event leads to it');
});

test.serial('rows of a payment whose keys are destroyed, until the erasure is recorded', async (t) => {
  const destroyKeys = async ({ eventStore, personalData }: Copy) => {
    const sealed = (await eventStore.load(paymentStream(id))).flatMap(({ data }) => sealedValuesOf(data));
    await personalData.store.destroy(sealed.map(({ value }) => ('key' in value ? value.key : '')));
  };
  const interrupted = await verdictAfter(t, { before: destroyKeys });
  t.is(
    interrupted.violations['rows of payments.payers'],
    `The row ${id} exists, and no event leads to it`,
    'it still differs when it is compared again',
  );
  const recorded = await verdictAfter(t, {
    before: destroyKeys,
    async meanwhile({ eventStore, url, personalData }) {
      const { store } = personalData;
      const erase = createErase({ store, eventStore, onErased: async () => true, runtime: systemRuntime });
      await erase([{ subject: id, reason: 'requested', actor: 'staff:siti' }]);
      await project(eventStore, url, personalData);
    },
  });
  t.deepEqual(recorded.violations, {});
});

test.serial(
  'personal data whose keys are lost are noted, because no row that is made again can show it',
  async (t) => {
    const { report } = await verdictAfter(t, {
      interruptedAt: [['events for journal', 1]],
      async before({ eventStore, url, personalData }) {
        await query(url, "delete from personal_data.key_blocks where id <> 'index'");
        await query(url, 'drop schema payments, details cascade');
        // Otherwise the old checkpoints say that the rows are there already.
        await query(url, "delete from checkpoints where name in ('payments', 'details')");
        await project(eventStore, url, personalData);
      },
    });
    const of = (name: string) => report.notes.find((note) => note.startsWith(`The rows of ${name} lack`));
    t.regex(
      of('payments') ?? '',
      /the personal data of \d+ streams whose keys are lost; the first is payment-/,
    );
    t.regex(of('details') ?? '', /the personal data of \d+ streams/);
    t.is(of('journal'), undefined);
  },
);

test.serial(
  'rows are reported if they differ at both looks, also where more differ than are named',
  async (t) => {
    const fail = (number: number) =>
      `update payments.payments set status = 'failed' where transaction_id = '${paymentId(number)}';`;
    const forge = `insert into journal.books
    select 'FORGED' || lpad(number::text, 4, '0'), revision, reference, receipt_no, state, opened
    from (select * from journal.books limit 1) as book, generate_series(1, 1500) as number`;
    const { report } = await verdictAfter(t, {
      sql: `${fail(4)} ${forge}`,
      async meanwhile({ url }) {
        await query(
          url,
          `${fail(5)} delete from journal.books where transaction_id between 'FORGED0001' and 'FORGED1400'`,
        );
      },
    });
    t.like(report.violations, [
      { kind: 'rows of payments.payments', count: 1 },
      { kind: 'rows of journal.books', count: 100 },
    ]);
    t.is(report.violations.length, 2);
  },
);

test.serial(
  'deliveries settled ahead of the to-do list agree, a payment said to be further on does not; a halted projection is noted',
  async (t) => {
    const behind = `update checkpoints set commit_position = 3, prepare_position = 3, last_event = null
    where name = 'reactor_deliveries';`;
    const halted = `update checkpoints set fault = '{"message": "It cannot", "event": null}' where name = 'users'`;
    const { report } = await verdictAfter(t, { sql: `${behind} ${halted}` });
    t.deepEqual(report.violations, []);
    t.deepEqual(report.notes, ['The projection users has halted: later events were not checked.']);
    const { violations } = await verdictAfter(t, {
      sql: `${behind} update reactor_deliveries.payments
      set known = replace(known::text, '"revision":', '"revision":9')::json where transaction_id = '${id}'`,
    });
    t.deepEqual(violations, {
      'rows of reactor_deliveries.payments': `The row ${id} is not what the events lead to (known)`,
    });
    // A row ahead by an event that cannot be read any more stops nothing: it is named as one that differs.
    const unreadable = await verdictAfter(t, {
      sql: behind,
      log: (db) =>
        db.exec(`update events set message = cast(replace(cast(message as text), '"outcome"', '"outcomf"') as blob)
        where stream = ${streamIn(paymentStream(id))} and revision = 2`),
    });
    t.is(
      unreadable.violations['rows of reactor_deliveries.payments'],
      `The row ${id} exists, and no event leads to it`,
    );
    t.truthy(unreadable.violations['changed events']);
    t.regex(
      unreadable.violations['rows of payments'] ?? '',
      new RegExp(`^A fresh fold parks ${paymentStream(id)} at revision 2 .*, and the tables do not$`),
    );
  },
);

test.serial('a whole stream removed: its row, which has no events any more, is reported', async (t) => {
  const { violations } = await verdictAfter(t, {
    log: remove(paymentStream(id)),
  });
  t.truthy(violations['what was sealed']);
  t.is(violations['rows of payments.payments'], `The row ${id} exists, and no event leads to it`);
});

test.serial('the newest events of the log removed, which the read models have taken', async (t) => {
  const { violations } = await verdictAfter(t, {
    log: (db) => db.exec(`delete from events where position > ${filled - 3}`),
  });
  t.is(violations['rows of users.users'], `The row ${userId} exists, and no event leads to it`);
});

test.serial(
  'tables that are missing or altered, and a state that is not a payment: the rest is still checked',
  async (t) => {
    const { violations, report } = await verdictAfter(t, {
      sql: `
      drop schema journal cascade;
      alter table users.users alter column id type bytea using id::bytea;
      update payments.payments set state = '{"deliveries": [null]}' where transaction_id = '${id}';
      delete from projects.projects;
      alter table access_log.access_log drop column detail;
      delete from payments.payers where transaction_id = '';
    `,
    });
    t.is(violations['rows of journal.books'], 'The table is missing');
    t.is(violations['rows of access_log.access_log'], 'The table lacks detail');
    t.is(violations['rows of payments.payers'], 'The row with an empty key is missing');
    t.is(
      violations['the journal'],
      'The journal cannot be checked: Postgres refused the rows: 42P01 relation "journal.postings" does not exist',
    );
    t.regex(
      violations['rows of users'] ?? '',
      /^They cannot be compared: Postgres refused the rows: 42883 operator does not exist: \w/,
    );
    t.is(violations['rows of payments.payments'], `The row ${id} is not what the events lead to (state)`);
    t.is(violations['rows of projects.projects'], `The row ${projectId} is missing`);
    t.is(report.checked.find(({ what }) => what.startsWith('payments,'))?.count, 8);
    const { violations: withoutAny } = await verdictAfter(t, { sql: 'drop schema payments cascade' });
    t.regex(withoutAny['rows of payments.payments'] ?? '', /^The table is missing/);
    t.regex(withoutAny['rows of payments'] ?? '', /^Receipts and deliveries cannot be checked/);
  },
);

test.serial('a database in which no projection ever ran: the log is checked', async (t) => {
  const { violations, report } = await verdictAfter(t, {
    sql: `drop table checkpoints; ${[...allProjections, deliveryList, requeryList].map(({ name }) => `drop schema ${name} cascade;`).join(' ')}`,
  });
  t.is(report.checked[0]?.count, filled);
  t.is(violations['rows of payments'], 'The projection payments has never run');
});

const deliveryOf = (number: number, index: number, change: string) => `
  update payments.payments set state = jsonb_set(state::jsonb, '{deliveries,${index}}',
    (state::jsonb #> '{deliveries,${index}}') || '${change}')::json
  where transaction_id = '${paymentId(number)}';`;

test.serial('faults of many kinds at once: each is named, and none hides another', async (t) => {
  const parked = { stream: 'user-X', revision: 3, type: 'T', message: 'No', parkedAt: '2026-11-20' };
  const { violations } = await verdictAfter(t, {
    sql: `
      update journal.postings set debit_sen = debit_sen + 1 where transaction_id = '${id}' and debit_sen > 0;
      insert into journal.shared_numbers (id, kind, number, merchant_code, transaction_id, at, first_transaction_id)
      values ('X', 'sharedGatewayTransaction', 'P1', 'council', 'B', now(), 'A');
      update payments.payments set state = jsonb_set(state::jsonb, '{receipt}', 'null')::json
      where transaction_id = '${paymentId(1)}';
      -- The clock was set back between the two: the log has them in order.
      ${deliveryOf(3, 1, '{"state": "delivered", "settledAt": "2026-11-20T01:05:30.000Z"}')}
      ${deliveryOf(6, 0, '{"key": "callback-2", "state": "delivered", "settledAt": "2026-11-20T01:07:00.000Z"}')}
      ${deliveryOf(6, 1, '{"key": "callback-1", "state": "delivered", "settledAt": "2026-11-20T01:05:30.000Z"}')}
      ${deliveryOf(5, 0, '{"state": "due", "dueAt": "2026-11-19T01:59:00.000Z"}')}
      delete from checkpoints where name = 'projects';
      update checkpoints set parked = '[${JSON.stringify(parked)}]' where name = 'users';
      update log_checkpoint set refused = 'The log does not agree with seal 3';
    `,
  });
  t.regex(
    violations['rows of journal.postings'] ?? '',
    new RegExp(`^The row ${id} \\d+ \\d+ is not .* \\(debit_sen\\)$`),
  );
  t.regex(violations['the journal'] ?? '', /debits are not their credits/);
  t.is(
    violations['shared numbers'],
    'Payments A and B have the same gateway transaction, and nobody has explained it',
  );
  t.is(violations.receipts, `Payment ${paymentId(1)} is paid and has no receipt number`);
  t.is(
    violations['the order of callbacks'],
    `Of payment ${paymentId(6)} callback-2 was delivered after callback-1`,
  );
  t.is(
    violations['overdue deliveries'],
    `Of payment ${paymentId(5)} callback-1 has been due since 2026-11-19T01:59:00.000Z, and was not attempted`,
  );
  t.is(violations['rows of projects'], 'The projection projects has never run');
  t.is(violations['parked streams'], 'users has parked user-X revision 3: No');
  t.is(
    violations['rows of users'],
    'They have parked user-X at revision 3 (No), and a fresh fold does not: try it again',
  );
  t.false('rows of users.users' in violations, 'a stream that is parked without need is no other violation');
  t.is(violations['unsealed events'], 'Nothing is sealed any more: The log does not agree with seal 3');
});

test('of each kind the first ten are named, also where what two runs found is put together', (t) => {
  const [one, both] = [createViolations(), createViolations()];
  for (let no = 1; no <= 6; no += 1) one.add('changed events', `Event ${no} was changed`);
  one.add('seals', 'A seal is missing', 5);
  both.addAll(one.all());
  both.addAll(one.all());
  const report = reportText({ checked: [], notes: [], explained: [], violations: both.all() });
  const named = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4].map((no) => `Event ${no} was changed.`).join('\n          ');
  t.true(
    report.includes(`VIOLATION changed events (12): ${named}\nVIOLATION seals (10): A seal is missing.`),
  );
  // A rebuild would replace the rows that are still right.
  t.regex(
    report,
    /\n\nRebuild nothing before the cause is known\. What to do is in content\/docs\/operations\.md, /,
  );
});

test.serial('events that are not sealed are noted, and reported as a violation later', async (t) => {
  const withoutSeals: Edits = {
    seesRows: false,
    log: remove(sealsStream),
  };
  const soon = await verdictAfter(t, withoutSeals);
  t.true(
    soon.report.notes.includes(`${filled} events are not sealed yet: only their chains protect them.`),
    soon.report.notes.join('\n'),
  );
  t.false('unsealed events' in soon.violations);
  const later = await verdictAfter(t, { ...withoutSeals, now: '2100-01-01T00:00:00.000Z' });
  t.regex(later.violations['unsealed events'] ?? '', /^The 45 events since .* are not sealed$/);
  t.is(later.violations['rows of every read model'], 'They were not compared with the log');
});
