// Personal data of a payment: shown only once the access log has recorded it.
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { detailOf, readExportRequest } from '../../../src/audit/export/export.ts';
import { recordToolAccess } from '../../../src/cli/access.ts';
import { staffCause } from '../../../src/cli/stores.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { sessionStream } from '../../../src/events/session.ts';
import { startApp } from '../../support/app.ts';
import { checkChain } from '../../support/chain.ts';
import { memberOf, signIn } from '../../support/console.ts';
import { chosen, result, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { accessesOf, personal, poison, sessionOf } from './payment-pages.ts';
import { startPopulated } from './populated.ts';

const postgres = await createDatabase();

test.serial('personal data is shown once the access log has recorded it, and not before', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const [auditor, member] = [await signIn(app, 'viewer'), await signIn(app, 'member')];
  const raw = { STATUS: '1', NOTE: poison };
  const id = await payment([chosen(1), succeeded(result(1, 'succeeded', { raw }))]);
  const payer = await (await member.get(`/console/payments/${id}/payer`)).text();
  for (const text of personal) t.true(payer.includes(text), text);
  const evidence = await (await member.get(`/console/payments/${id}/events/2`)).text();
  t.regex(evidence, /&quot;NOTE&quot;: &quot;&lt;img src=x/);
  for (const path of [`${id}/events/9`, `${id}/events/-1`, `${id}/events/x`, '0/events/0', '0/payer'])
    t.is((await member.get(`/console/payments/${path}`)).status, 404, path);
  const [, , ...accesses] = await app.eventStore.load(sessionStream(sessionOf(member)));
  t.deepEqual(
    accesses.map(({ data }) => {
      const { what, transactionId, detail, userId } = data as Record<string, unknown>;
      return { what, transactionId, detail, userId };
    }),
    [
      { what: 'payer', transactionId: id, detail: '', userId: member.id },
      { what: 'evidence', transactionId: id, detail: 'event 2', userId: member.id },
    ],
  );
  t.like(accesses[0]?.metadata, { actor: `staff:${member.id}` });

  await caughtUp();
  const list = await (await auditor.get('/console/access-log')).text();
  t.true(list.includes('Staff, member') && list.includes(id) && list.includes('event 2'));
  t.regex(await (await auditor.get('/console/access-log?staff=nobody')).text(), /There are no entries/);
  t.regex(await (await auditor.get(`/console/access-log?payment=${id.toLowerCase()}`)).text(), /event 2/);
  t.is((await member.get('/console/access-log')).status, 403);
  t.is((await auditor.get('/console/access-log?after=x')).status, 400);
  t.is((await auditor.get('/console/access-log?staff=%00&payment=%00')).status, 200);
});

test.serial('what a command has shown is in the access log, under the account of the machine', async (t) => {
  const { app, caughtUp } = await startPopulated(t, postgres);
  const auditor = await signIn(app, 'viewer');
  const shown = { what: 'subjectAccess', detail: '2 payments' } as const;
  await recordToolAccess({ eventStore: app.eventStore, runtime: systemRuntime }, shown);
  const days = { from: '2026-11-29', to: '2026-11-30', opened: 'yes' };
  const exported = { what: 'exportOpened', detail: detailOf(readExportRequest(days, null)) } as const;
  await recordToolAccess({ eventStore: app.eventStore, runtime: systemRuntime }, exported);
  await caughtUp();
  const list = await auditor.read('/console/access-log');
  t.regex(list, /jsonl of all merchants, 2026-11-29 00:00:00 to 2026-12-01 00:00:00</, 'Malaysian times');
  t.true(list.includes(`>${staffCause().actor}<`), 'staff:<name>');
  const [, own = ''] = /href="(\/console\/access-log\?staff=staff:[^"]+)"/.exec(list) ?? [];
  t.true((await auditor.read(own)).includes('2 payments'));
  t.regex(
    await auditor.read(`/console/access-log?payment=${'0'.repeat(26)}`),
    /only in the whole access log/,
  );
});

test.serial('notes and the receipt are shown with the payer, and erased with them', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const [member, viewer] = [await signIn(app, 'member'), await signIn(app, 'viewer')];
  const id = await payment([]);
  const path = `/console/payments/${id}`;
  const note = 'Aminah called.\r\nShe pays on Monday <b>';
  t.is((await viewer.post(`${path}/notes`, { note })).status, 403);
  for (const wrong of ['', ' ', 'x'.repeat(1_001), '\u202Ex'])
    t.is((await member.post(`${path}/notes`, { note: wrong })).status, 400);
  t.is((await member.post(`/console/payments/${'0'.repeat(26)}/notes`, { note })).status, 404);
  const answer = await member.post(`${path}/notes`, { note });
  t.is(answer.headers.get('location'), `${path}?notice=noted`);
  const stored = (await app.eventStore.load(paymentStream(id))).at(-1);
  t.is(stored?.type, 'StaffNoteAdded');
  t.false(JSON.stringify(stored?.data).includes('Aminah'), 'it is sealed');

  const page = await (await viewer.get(path)).text();
  t.regex(page, /Payer and 1 note</);
  t.false(page.includes('She pays'));
  t.false(page.includes('Add the note') || page.includes('Link for the payer'), 'a viewer only reads');
  const own = await (await member.get(path)).text();
  t.true(own.includes(`value="${app.url}/generic/pay/${id}"`), 'the payer can still pay');
  const payer = await (await viewer.get(`${path}/payer`)).text();
  t.true(payer.includes('Aminah called.\nShe pays on Monday &lt;b&gt;'));
  t.regex(payer, /Staff, member, /);
  const receipt = await viewer.get(`${path}/receipt`);
  t.is(receipt.headers.get('location'), `${app.url}/generic/receipt/${id}?lang=en`);
  t.deepEqual(
    (await accessesOf(app, viewer)).map(({ data }) => (data as { detail: string }).detail),
    ['with notes', 'receipt'],
  );
  t.is((await viewer.get(`${path}/download`, { 'sec-fetch-site': 'none' })).status, 403, 'from elsewhere');

  const admin = await signIn(app, 'admin');
  await admin.post(`${path}/erase`);
  t.regex(await (await viewer.get(`${path}/payer`)).text(), /Cannot be shown/);
  t.is((await member.post(`${path}/notes`, { note })).status, 409);
});
test.serial('where the access cannot be recorded, nothing is shown', async (t) => {
  const { app, db, payment, caughtUp } = await startPopulated(t, postgres);
  const member = await signIn(app, 'admin');
  const id = await payment([]);
  await caughtUp();
  const append = () => Promise.reject(new EventStoreUnavailable('no append today'));
  const mute = await startApp({ console: { db }, eventStore: { append } }, app);
  const there = memberOf(mute.url, member.id, member.cookie);
  const answers = [
    await there.get(`/console/payments/${id}/payer`),
    await there.get(`/console/payments/${id}/events/0`),
    await there.get(`/console/payments/${id}/history.json`),
    await there.post('/console/payments/by-payer', { payer: 'ismail' }),
  ];
  for (const answer of answers) {
    t.is(answer.status, 503, answer.url);
    const html = await answer.text();
    for (const text of [...personal, id]) t.false(html.includes(text), text);
  }
  await mute.close();
  const [{ type } = { type: '' }] = (await app.eventStore.load(sessionStream(sessionOf(member)))).slice(-1);
  t.is(type, 'SignedIn');
});

test.serial(
  'concurrent accesses are all recorded, in one whole chain, and none after signing out',
  async (t) => {
    const { app, payment } = await startPopulated(t, postgres);
    const member = await signIn(app, 'admin');
    const id = await payment([]);
    const path = `/console/payments/${id}/payer`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => member.get(path)));
    t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const events = await app.eventStore.load(sessionStream(sessionOf(member)));
    t.is(events.length, 22);
    checkChain(t, events);
    const [, ...later] = await Promise.all([
      member.post('/console/sign-out'),
      ...Array.from({ length: 10 }, () => member.get(path)),
    ]);
    const shown = later.filter(({ status }) => status === 200).length;
    t.true(later.every(({ status }) => status === 200 || status === 303));
    const all = await app.eventStore.load(sessionStream(sessionOf(member)));
    t.is(all.at(-1)?.type, 'SignedOut');
    t.is(all.length, 23 + shown);
  },
);
