// Staff hear of what waits for them once: grouped, at most once an hour, whatever restarts or fails in between.
import type { Mail, MailOutcome } from '@ledger/outbound/mailer.ts';
import { prepare, recordFault } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import { allProjections } from '../../../src/projections/all.ts';
import { users } from '../../../src/projections/users/projection.ts';
import { recipientsIn, tellStaff } from '../../../src/reactors/staff/staff-email.ts';
import { makeStaffEmail, unsentStaffEmail } from '../../../src/reactors/staff/staff-news.ts';
import { createDeliveryList } from '../../../src/to-do/delivery-list.ts';
import { emptyDatabase, log } from '../../projections/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';

const postgres = await createDatabase();
const hour = 60 * 60_000;

test.serial('one email for all that is new, then silence, then news; a failure is made up for', async (t) => {
  const { db } = await emptyDatabase(postgres);
  let nowMs = Date.parse('2026-11-20T01:00:00Z');
  let recipients: readonly string[] = ['aminah@agency.example', 'budi@agency.example'];
  const failing = new Set<string>();
  let sent: Mail[] = [];
  const send = async (mail: Mail): Promise<MailOutcome> => {
    if (failing.has(mail.to)) return { kind: 'failed', reason: 'no answer', isServerDown: true };
    sent.push(mail);
    return { kind: 'sent', messageId: mail.id };
  };
  // Every call is a process that has just started: it knows nothing of the one before.
  const look = async (afterMs = 0) => {
    nowMs += afterMs;
    sent = [];
    const runtime = testRuntime({ now: () => new Date(nowMs) });
    const dependencies = { db, mailer: { send }, recipients: async () => recipients, log, runtime };
    const { signal } = new AbortController();
    await tellStaff({ ...dependencies, baseUrl: 'https://payments.example' }, signal);
    return sent.map(({ to }) => to);
  };
  t.deepEqual(await look(), [], 'no projection has run yet');
  const toDo = createDeliveryList({ eventStore: { load: async () => [] } });
  for (const each of [...allProjections, toDo]) await prepare(db, each, each.name);
  t.deepEqual(await look(), [], 'nothing waits');

  const exception = (id: string, kind = 'duplicate') =>
    db('payments.exceptions').insert({
      transaction_id: id,
      source: 'payment',
      no: 1,
      kind,
      merchant_code: 'council',
      at: '2026-11-19T23:00:00Z',
    });
  for (let n = 0; n < 50; n += 1) await exception(`P${n}`);
  await db('reactor_deliveries.deliveries').insert({
    transaction_id: 'P1',
    ordering_key: 'callback',
    delivery: 'callback-1',
    kind: 'callback',
    receiver: 'https://merchant.example',
    merchant_code: 'council',
    state: 'abandoned',
    due_at: new Date(nowMs),
    attempts: 10,
    called_at: new Date(nowMs),
    settled_at: new Date(nowMs),
  });
  await recordFault(db, 'journal', 'It cannot continue');
  const all = recipients;
  recipients = [];
  t.deepEqual(await look(), [], 'nobody to tell');
  recipients = all;
  failing.add('budi@agency.example');
  t.deepEqual(await look(), ['aminah@agency.example'], 'a flood is one email');
  const [mail] = sent;
  t.is(
    mail?.subject,
    'Lejar bayaran: 52 perkara baharu memerlukan tindakan anda / Payment ledger: 52 new matters need your attention',
  );
  t.is(
    mail?.text,
    [
      '52 perkara baharu memerlukan tindakan anda',
      '',
      'Panggilan balik kepada pedagang, dihentikan: 1 baharu, 1 kesemuanya',
      'https://payments.example/console/deliveries?state=abandoned',
      '',
      'Dibayar dua kali: 50 baharu, 50 kesemuanya',
      'https://payments.example/console/exceptions?kind=duplicate',
      '',
      'Unjuran journal telah terhenti: 1 baharu, 1 kesemuanya',
      'https://payments.example/console/projections',
      '',
      '52 new matters need your attention',
      '',
      'Callbacks to merchants, given up: 1 new, 1 in all',
      'https://payments.example/console/deliveries?state=abandoned',
      '',
      'Paid twice: 50 new, 50 in all',
      'https://payments.example/console/exceptions?kind=duplicate',
      '',
      'The projection journal has stopped: 1 new, 1 in all',
      'https://payments.example/console/projections',
      '',
    ].join('\n'),
  );
  failing.clear();
  t.deepEqual(await look(60_000), ['budi@agency.example'], 'who has it does not get it again');
  t.is(sent[0]?.text, mail?.text);
  t.not(sent[0]?.id, mail?.id);
  t.is(await unsentStaffEmail(db), null);

  await exception('LATE');
  t.deepEqual(await look(60_000), [], 'not within the hour');
  t.deepEqual(await look(hour), all, 'an exception is told although its time is before the last email');
  t.regex(sent[0]?.text ?? '', /^Paid twice: 1 new, 51 in all\n/m);
  t.deepEqual(await look(2 * hour), [], 'nothing is told twice');
  for (const address of all) failing.add(address);
  await exception('MISSED', 'lateSuccess');
  t.deepEqual(await look(hour), [], 'the mail server is away');
  await exception('LATER');
  t.deepEqual(await look(2 * hour), [], 'it still is');
  failing.clear();
  t.deepEqual(await look(60_000), all);
  t.regex(sent[0]?.text ?? '', /^Paid twice: 1 new, 52 in all\n/m);
  t.regex(sent[0]?.text ?? '', /^Late success: 0 new, 1 in all\n/m, 'nobody got the email that told of it');
  await exception('CORRECTED');
  t.deepEqual(await look(-72 * hour), all, 'the last email is of the future: the clock was ahead');
  await db('payments.exceptions').update({ resolved_at: new Date(nowMs) });
  t.deepEqual(await look(hour), []);
});

test.serial(
  'a process that stood still while it sent does not shorten the list of the next email',
  async (t) => {
    const { db } = await emptyDatabase(postgres);
    const toDo = createDeliveryList({ eventStore: { load: async () => [] } });
    for (const each of [...allProjections, toDo]) await prepare(db, each, each.name);
    await recordFault(db, 'journal', 'It cannot continue');
    const now = new Date('2026-11-20T01:00:00Z');
    const recipients = ['aminah@agency.example', 'budi@agency.example'];
    const send = async (mail: Mail): Promise<MailOutcome> => {
      if (mail.to === recipients[0]) {
        await recordFault(db, 'payments', 'It cannot continue either');
        await makeStaffEmail(db, { now: new Date(now.getTime() + hour), pauseMs: hour, recipients });
      }
      return { kind: 'sent', messageId: mail.id };
    };
    const dependencies = { db, mailer: { send }, recipients: async () => recipients, log };
    const runtime = testRuntime({ now: () => now });
    const { signal } = new AbortController();
    await tellStaff({ ...dependencies, runtime, baseUrl: 'https://payments.example' }, signal);
    t.deepEqual((await unsentStaffEmail(db))?.recipients, recipients);
  },
);

test('it goes to admins who may sign in and see the payments of all merchants, however many users there are', async (t) => {
  const { db } = await emptyDatabase(postgres);
  await prepare(db, users, users.name);
  const common = { id: 'U', name: 'U', createdAt: '2026-11-20T01:00:00.000Z', active: true, console: true };
  const accounts = [
    ...Array.from({ length: 1_000 }, () => ({ ...common, email: 'reader@agency.example', role: 'viewer' })),
    { ...common, email: 'all@agency.example', role: 'admin' },
    { ...common, email: 'limited@agency.example', role: 'admin', merchants: ['council'] },
    { ...common, email: 'member@agency.example', role: 'member' },
    { ...common, email: 'gone@agency.example', role: 'admin', active: false },
    { ...common, email: 'api@agency.example', role: 'admin', console: false },
  ];
  const rowOf = (state: object, no: number) => ({
    id: no,
    revision: 0,
    created_position: no,
    state,
    updated_at: 'now',
  });
  await db('users.users').insert(accounts.map(rowOf));
  t.deepEqual(await recipientsIn(db), ['all@agency.example']);
});
