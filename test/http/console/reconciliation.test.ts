// The console's imports: who may, what is accepted, what is shown, and how a discrepancy is resolved.
import test from 'ava';
import { reconciliationStream } from '../../../src/events/reconciliation.ts';
import { createImportGuard } from '../../../src/http/console/frame/uploads.ts';
import { gatewayCsv, idOf } from '../../reconciliation/helpers.ts';
import { type Member, signIn } from '../../support/console.ts';
import { chosen, result, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { startPopulated } from './populated.ts';

const postgres = await createDatabase();

const reconciliationPage = '/console/reconciliation';
const page = reconciliationPage;

/** Sends the page's form as a browser does. */
async function upload(
  url: string,
  member: Member,
  csv: string | Blob | null,
  fields: Record<string, string> = {},
  page = reconciliationPage,
) {
  const html = await (await member.get(page)).text();
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const form = new FormData();
  for (const [name, value] of Object.entries({ token, from: '', to: '', ...fields })) form.set(name, value);
  if (csv !== null) form.set('file', typeof csv === 'string' ? new File([csv], 'a<b>.csv') : csv);
  const headers = { cookie: member.cookie, origin: url, accept: 'text/html' };
  return fetch(`${url}${page}`, { method: 'POST', headers, body: form, redirect: 'manual' });
}

test.serial('an administrator imports, reads and resolves; others only read', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const [admin, member, viewer] = await Promise.all([
    signIn(app, 'admin'),
    signIn(app, 'member'),
    signIn(app, 'viewer'),
  ]);
  const id = await payment([chosen(1), succeeded(result(1, 'succeeded'))]);
  await caughtUp();
  const csv = gatewayCsv([
    { TRANS_ID: id, PAYMENT_TRANS_ID: 'P1', AMOUNT: '99.00' },
    { TRANS_ID: '<img src=x onerror=alert(1)>', PAYMENT_TRANS_ID: 'P2' },
    { TRANS_ID: 'OTHER', PAYMENT_TRANS_ID: '"=1+1"', CURRENCY: '<i>' },
  ]);
  for (const other of [member, viewer]) {
    const refused = await upload(app.url, other, csv);
    t.is(refused.status, 403);
    t.false((await (await other.get(page)).text()).includes('type="file"'));
  }
  const dry = await upload(app.url, admin, csv, { dry: '1', from: '2026-11-20', to: '2026-11-20' });
  t.is(dry.status, 200);
  const dryHtml = await dry.text();
  t.true(dryHtml.includes('nothing was recorded') && dryHtml.includes('Amount differs'));
  const timed = await upload(app.url, admin, csv, { dry: '1', made: '2026-11-20T18:30' });
  t.true((await timed.text()).includes('as of 2026-11-20 18:30:00'));
  t.is((await upload(app.url, admin, csv, { made: 'yesterday' })).status, 400);
  t.false(dryHtml.includes('/exceptions/difference/'), 'nothing was kept that a link could lead to');

  const imported = await upload(app.url, admin, csv);
  const html = await imported.text();
  t.is(imported.status, 200, html);
  t.notRegex(html, /<img|onerror|<i>|=1\+1/);
  t.true(html.includes('Line 3 TRANS_ID is not an id'));
  const [, ofFile = ''] = /href="(\/console\/exceptions\?kind=difference[^"]+)"/.exec(html) ?? [];
  t.false(dryHtml.includes('kind=difference&amp;file='));
  t.true(html.includes(`/console/payments/${id}`));
  t.regex(html, /succeeded <span[^>]*>RM 120.50<[\s\S]*succeeded <span[^>]*>RM 99.00</);
  const [, link = '', difference = ''] =
    /href="(\/console\/exceptions\/difference\/(\w{26}))"/.exec(html) ?? [];
  const [event] = await app.eventStore.load(reconciliationStream(difference));
  t.is(Reflect.get(event?.metadata ?? {}, 'actor'), `staff:${admin.id}`);

  await caughtUp();
  for (const each of [admin, member, viewer]) {
    t.true((await (await each.get(page)).text()).includes(link));
    const shown = await each.get(link);
    t.is(shown.status, 200);
    t.regex(await shown.text(), / by Staff, admin</, 'whoever imported the export');
  }
  for (const list of ['/console/exceptions?kind=difference', ofFile.replace('&amp;', '&')])
    t.true((await (await viewer.get(list)).text()).includes(link), list);
  t.is((await viewer.post(link, { resolution: 'explained', note: 'x' })).status, 403);
  t.is((await admin.post(link, { resolution: 'explained', note: ' ' })).status, 400);
  const note = 'The gateway keeps <b>RM 21.50</b>';
  t.is((await admin.post(link, { resolution: 'explained', note })).status, 303);
  t.is((await admin.post(link, { resolution: 'explained', note: 'Another' })).status, 409);
  t.true((await (await viewer.get(link)).text()).includes('The gateway keeps &lt;b&gt;RM 21.50&lt;/b&gt;'));
  await caughtUp();
  t.false((await (await admin.get(page)).text()).includes(link));
  await upload(app.url, admin, csv);
  t.is((await app.eventStore.load(reconciliationStream(difference))).length, 2, 'what is explained stays so');
});

test.serial('anything but an export in the page’s own form is refused', async (t) => {
  const { app, caughtUp, db } = await startPopulated(t, postgres);
  const admin = await signIn(app, 'admin');
  await caughtUp();
  const attempts: [string | Blob, Record<string, string>, number][] = [
    ['', {}, 400],
    ['name,amount\n<b>Aminah</b>,1\n', {}, 400],
    [new Blob([new Uint8Array(1_000)]), {}, 400],
    [gatewayCsv([]), { from: 'noon' }, 400],
    [gatewayCsv([]), { from: '2026-11-21', to: '2026-11-20' }, 400],
    [gatewayCsv([]), { token: 'x' }, 403],
    [gatewayCsv([]), {}, 400],
    [gatewayCsv([]), { file: 'text', from: '2026-11-20', to: '2026-11-20' }, 200],
    [new Blob([new Uint8Array(21 * 1024 * 1024)]), {}, 413],
  ];
  for (const [file, fields, status] of attempts) {
    const answer = await upload(app.url, admin, file, fields);
    t.is(answer.status, status, JSON.stringify(fields));
    t.false((await answer.text()).includes('Aminah'));
  }
  t.regex(await (await upload(app.url, admin, '')).text(), /The file is empty/);
  t.regex(await (await upload(app.url, admin, null)).text(), /Choose a file/);
  const rounded = gatewayCsv([{ TRANS_ID: idOf(1), PAYMENT_TRANS_ID: '2.61121E+15' }]);
  const typed = { from: '2026-11-19', to: '2026-11-20', made: '2026-11-20T18:30', dry: '1' };
  const answer = await upload(app.url, admin, rounded, typed);
  t.is(answer.status, 400);
  const html = await answer.text();
  t.regex(html, /No row can be read[\s\S]*Line 2 PAYMENT_TRANS_ID was rounded/);
  for (const value of ['2026-11-19', '2026-11-20', '2026-11-20T18:30', '1" checked'])
    t.true(html.includes(`value="${value}`), value);
  t.is((await admin.post(page, { file: 'a,b' })).status, 415);
  t.is((await admin.get('/console/exceptions/difference/0')).status, 404);

  await db.raw('alter schema payments rename to payments_away');
  const interrupted = await upload(
    app.url,
    admin,
    gatewayCsv([{ TRANS_ID: idOf(1), PAYMENT_TRANS_ID: 'P1' }]),
  );
  t.is(interrupted.status, 503);
  t.regex(await interrupted.text(), /import the same file again to finish it/);
  await db.raw('alter schema payments_away rename to payments');
});

test.serial('one import runs at a time, whatever it imports', async (t) => {
  const busy = Promise.withResolvers<void>();
  const guard = createImportGuard();
  const first = guard(() => busy.promise);
  const second = guard(async () => {});
  // The pages are given no more than they use: nothing.
  const call = (page: typeof first) => Reflect.apply(page, undefined, []);
  const running = call(first);
  t.like(await t.throwsAsync(call(second)), {
    answer: { status: 409, message: 'Another import is in progress' },
  });
  busy.resolve();
  await running;
  await t.notThrowsAsync(call(second));
});

test.serial('an administrator imports, enters and reverses settlements; others only read', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const [admin, viewer] = await Promise.all([signIn(app, 'admin'), signIn(app, 'viewer')]);
  const id = await payment([chosen(1), succeeded(result(1, 'succeeded', { mode: 'fpx' }))]);
  await caughtUp();
  const settlements = '/console/settlements';
  const send = (member: Member, csv: string | null, fields: Record<string, string> = {}) =>
    upload(app.url, member, csv, fields, settlements);
  const csv = (total: string) =>
    `REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_MODE,AMOUNT,FEE\nPO-1,2026-11-20,${total},${id},,120.50,0.50\n`;
  t.is((await send(viewer, csv('120.00'))).status, 403);
  const wrong = await send(admin, csv('120.50'));
  t.is(wrong.status, 400);
  t.true((await wrong.text()).includes('less the fees are RM 120.00, and the total is RM 120.50'));
  const faulty = await send(admin, `${csv('120.00')}<script>,2026-11-20,120.00,,fpx,1,\n`);
  t.is(faulty.status, 400);
  const faultyHtml = await faulty.text();
  t.true(faultyHtml.includes('Line 3 REFERENCE must have'));
  t.notRegex(faultyHtml, /<script>,/);

  const imported = await send(admin, csv('120.00'));
  t.is(imported.status, 303);
  const path = new URL(imported.headers.get('location') ?? '', app.url).pathname;
  await caughtUp();
  const shown = await (await viewer.get(path)).text();
  t.true(shown.includes('Payout PO-1') && shown.includes('gateway:fpx'));
  t.true(shown.includes('Staff, admin'));
  t.false(shown.includes('name="note"'));
  t.regex((await send(admin, csv('120.00'))).headers.get('location') ?? '', /notice=settled-before/);

  // By hand: what was typed is shown again with what is wrong with it.
  const typed = { reference: 'RM-1', on: '2026-11-20', account: 'MERCHANT_CODE:council' };
  const refused = await send(admin, null, { ...typed, amount: '-120.50' });
  t.is(refused.status, 400);
  const form = await refused.text();
  t.regex(form, /role="alert">.* The amount must be an amount such as 120\.50\.<[\s\S]*value="-120.50"/);
  for (const [fields, fault] of [
    [{ amount: '1.00', fee: 'x' }, 'The fee must be an amount'],
    [{ amount: '1.00', total: 'x' }, 'The total must be an amount'],
    [{ amount: '1.00', on: '2026-11-31' }, 'The day must be a day'],
    [{ amount: '1.00', reference: '=1' }, 'The reference must have'],
    [{ amount: '1.00', fee: '0.10' }, 'The fee is for payouts'],
    [{ amount: '1.00', account: '' }, 'Choose a kind'],
  ] as const) {
    const answer = await send(admin, null, { ...typed, ...fields });
    t.is(answer.status, 400);
    const html = await answer.text();
    t.true(html.includes(fault), fault);
    t.notRegex(html, /REFERENCE|SETTLED_ON/);
  }
  t.true(form.includes('<option value="PAYMENT_MODE:fpx">Payout, FPX Online Banking (Individual)</option>'));
  t.is((await send(admin, null, { ...typed, amount: '120.50' })).status, 303);
  await caughtUp();
  t.regex((await send(admin, null, { ...typed, amount: '120.50' })).headers.get('location') ?? '', /before/);
  const twin = { ...typed, account: 'PAYMENT_MODE:fpx', amount: '121.00', fee: '1.00', total: '120.00' };
  t.is((await send(admin, null, { ...twin, reference: 'PO-2' })).status, 409, 'the same total on that day');
  await caughtUp();
  const ageingPage = async () => (await (await viewer.get('/console/journal')).text()).toString();
  t.true((await ageingPage()).includes('Everything is paid out and remitted'));

  const seen = async () =>
    /name="recorded" value="([^"]+)"/.exec(await (await admin.get(path)).text())?.[1] ?? '';
  const recorded = await seen();
  t.is((await viewer.post(`${path}/reverse`, { note: 'x', recorded })).status, 403);
  t.is((await admin.post(`${path}/reverse`, { note: ' ', recorded })).status, 400);
  t.is((await admin.post(`${path}/reverse`, { note: 'Not ours', recorded })).status, 303);
  t.is((await admin.post(`${path}/reverse`, { note: 'Again', recorded })).status, 409);
  t.is((await admin.post(`${settlements}/${'0'.repeat(26)}/reverse`, { note: 'x' })).status, 404);
  // The form of a page that was opened before somebody else recorded it again.
  t.is((await send(admin, csv('120.00'), { confirm: '1' })).status, 303);
  t.is((await admin.post(`${path}/reverse`, { note: 'Not ours', recorded })).status, 409);
  t.regex(await (await viewer.get(path)).text(), /Recorded<[\s\S]*Reversed<[\s\S]*Not ours[\s\S]*Recorded</);
  t.is((await admin.post(`${path}/reverse`, { note: 'Not ours', recorded: await seen() })).status, 303);
  await caughtUp();
  t.false((await ageingPage()).includes('Everything is paid out and remitted'));
  const statement = '/console/journal/account?account=gateway%3Afpx&from=2000-01-01';
  t.true((await (await viewer.get(statement)).text()).includes(`href="${path}"`));
});
