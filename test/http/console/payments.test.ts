// Finding payments, the page of one, and personal data: shown only once the access log has recorded it.
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { RegistryUnavailable } from '../../../src/clients/transaction-registry/answer.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import type { RegistryAnswer } from '../../../src/events/payment-result.ts';
import { sessionStream } from '../../../src/events/session.ts';

import { startApp } from '../../support/app.ts';
import { checkChain } from '../../support/chain.ts';
import { cookieOf, type Member, memberOf, signIn } from '../../support/console.ts';
import { payer as aminah, applied, chosen, result, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { abandoned, paidTwice, startPopulated } from './populated.ts';

const postgres = await createDatabase();

/** The personal data in a payment of the tests. */
const personal = [
  'Aminah',
  'AMINAH',
  'aminah@example.my',
  '900101145678',
  '0123456789',
  'Jalan Contoh',
  'Second half of 2026',
];
const poison = '<img src=x onerror=alert(1)>&"\'';
const paths = (html: string) =>
  Array.from(html.matchAll(/<th scope="row"><a href="\/console\/payments\/(\w{26})"/g), ([, id]) => id);
const load = async (app: { eventStore: EventStore }, member: Member) =>
  (await app.eventStore.load(sessionStream(sessionOf(member)))).filter(
    ({ type }) => type === 'PersonalDataViewed',
  );
const sessionOf = ({ cookie }: Member) => cookie.split('=')[1]?.split('.')[0] ?? '';

test.serial('payments are found by what names them, and by filters', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const member = await signIn(app, 'viewer');
  const paid = await payment([chosen(1), succeeded(result(1, 'succeeded'), { receiptNo: 'R-77' })], {
    reference: 'A-1',
  });
  const failed = await payment([chosen(1), applied(result(1, 'failed'))], { reference: poison });
  const open = await payment([], {
    reference: 'A-1',
    merchant: { code: 'museum', id: 8, name: 'Museum' },
    at: '2026-11-21T01:00:00.000Z',
  });
  await caughtUp();
  const found = async (query: string) => paths(await (await member.get(`/console/payments${query}`)).text());
  t.deepEqual(await found(''), [open, failed, paid], 'the latest first');
  t.deepEqual(await found('?q=A-1'), [open, paid]);
  t.deepEqual(await found('?q=%20R-77%20'), [paid]);
  t.deepEqual(await found('?q=r77&status=succeeded'), [paid]);
  t.deepEqual(await found(`?q=${result(1, 'succeeded').gatewayTransactionId.toLowerCase()}`), [paid]);
  t.deepEqual(await found(`?q=${result(1, 'succeeded').sellerOrderNo}`), [failed, paid]);
  t.deepEqual(await found('?q=X+OnErr'), [failed], 'a part of the reference');
  t.deepEqual(await found(`?q=${encodeURIComponent(poison)}`), [failed]);
  t.deepEqual(await found('?merchant=museum'), [open]);
  t.deepEqual(await found('?status=failed'), [failed]);
  t.deepEqual(await found('?mode=fpx&day=2026-11-20'), [failed, paid]);
  t.deepEqual(await found('?day=2026-11-21'), [open]);
  t.deepEqual(await found('?day=2026-11-20&by=paid'), [paid]);
  t.deepEqual(await found('?from=2026-11-20&to=2026-11-20'), [failed, paid]);
  t.deepEqual(await found('?from=2026-11-21'), [open]);
  t.deepEqual(await found('?least=120.51'), []);
  t.deepEqual((await found('?most=120.50&least=120.50')).length, 3);
  t.deepEqual(await found('?q=nothing'), []);
  for (const odd of [
    '?status=x',
    '?day=2026-02-30',
    '?after=x',
    `?after=${encodeURIComponent('["x","y"]')}`,
    '?mode=constructor',
    '?sort=constructor',
    '?least=1e3',
  ])
    t.is((await member.get(`/console/payments${odd}`)).status, 400, odd);
  t.deepEqual(await found('?q=%00&merchant=%00'), []);
  t.deepEqual(await found(`?q=${'x'.repeat(5000)}`), []);
  const direct = await member.get(`/console/payments?q=${paid.toLowerCase()}`);
  t.is(direct.headers.get('location'), `/console/payments/${paid}`);
  const page = await (await member.get('/console/payments')).text();
  for (const text of [...personal, '<img']) t.false(page.includes(text), text);
});

test.serial('more than a page of payments is read page by page, each payment once', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const member = await signIn(app, 'viewer');
  const ids = [];
  for (let index = 0; index < 101; index += 1) ids.push(await payment([]));
  await caughtUp();
  const next = (html: string) => /<a href="(\/console\/payments\?[^"]*after=[^"]+)"/.exec(html)?.[1];
  const seen = [];
  for (let path: string | undefined = '/console/payments?merchant=council'; path; ) {
    const html: string = await (await member.get(path)).text();
    seen.push(...paths(html));
    path = next(html)?.replaceAll('&amp;', '&');
  }
  t.deepEqual(seen.toSorted(), ids.toSorted());
  t.is(seen.length, 101);
});

test.serial(
  'a list is sorted, counted, summed and exported over all its rows, not over a page',
  async (t) => {
    const { app, payment, caughtUp } = await startPopulated(t, postgres);
    const member = await signIn(app, 'viewer');
    const references = ['=1+1', 'b', 'C', 'ä', '-2'];
    const ids: string[] = [];
    for (let index = 0; index < 55; index += 1)
      ids.push(
        await payment(index === 7 ? paidTwice : [], {
          reference: references[index] ?? `r-${index}`,
          amountSen: (10_000 + index) as never,
        }),
      );
    await caughtUp();
    const read = async (path: string) => (await member.get(path)).text();
    const html = await read('/console/payments?sort=amount&status=requested');
    t.deepEqual(paths(html), [...ids.slice(0, 7), ...ids.slice(8, 51)]);
    t.regex(html, /54 in all, RM 5,414\.78/);
    t.regex(html, /aria-sort="ascending"><a class="sort" href="[^"]*sort=-amount"/);
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(html) ?? [];
    t.deepEqual(paths(await read(next.replaceAll('&amp;', '&'))), ids.slice(51));
    t.is(
      (await read('/console/payments')).match(/<span class="tag">exception/g)?.length,
      1,
      'one waits for staff',
    );
    const listed = await member.get('/console/payments?status=requested');
    const there = { cookie: `${member.cookie}; ${cookieOf(listed)}` };
    const page = await (await member.get(`/console/payments/${ids[0]}`, there)).text();
    t.true(page.includes('<a href="/console/payments?status=requested">Back to the list</a>'));
    const answer = await member.get('/console/payments/export.csv?sort=reference&status=requested');
    t.is(answer.headers.get('content-disposition'), 'attachment; filename="payments.csv"');
    const lines = (await answer.text()).trimEnd().split('\r\n');
    t.is(lines.length, 55);
    t.is(
      lines[0],
      'transaction_id,channel,merchant_code,reference,status,mode,amount,receipt_no,requested_at,is_waiting',
    );
    t.true(
      lines.some((line) => line.includes(",'=1+1,")),
      'a reference stays a text in a spreadsheet',
    );
    t.true(lines.some((line) => line.includes(",'-2,")));
    for (const list of ['exceptions', 'deliveries']) {
      const [first = ''] = (await read(`/console/${list}/export.csv`)).split('\r\n');
      t.regex(first, /merchant_code/, list);
      t.is((await member.get(`/console/${list}?sort=-merchant`)).status, 200);
      t.is((await member.get(`/console/${list}?sort=nothing`)).status, 400);
    }
  },
);

test.serial('a search by payer is recorded before it is made, and its results name nobody', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const member = await signIn(app, 'viewer');
  const id = await payment([]);
  await payment([], { payer: { ...aminah, name: 'Siti', email: '', icNo: '', phoneNo: '' } });
  await caughtUp();
  const search = async (payer: string) => {
    const answer = await member.post('/console/payments/by-payer', { payer });
    return { status: answer.status, html: await answer.text() };
  };
  const { html, status } = await search('ismail AMINAH');
  t.is(status, 200);
  t.deepEqual(paths(html), [id]);
  for (const text of personal.filter((word) => word !== 'AMINAH')) t.false(html.includes(text), text);
  t.deepEqual(paths((await search('900101-14-5678')).html), [id]);
  t.deepEqual(paths((await search('aminah@example.my')).html), [id]);
  t.deepEqual(paths((await search('Aminah Siti')).html), []);
  t.is((await search('  ')).status, 303, 'no payer was named');
  const opened = await member.get('/console/payments/by-payer');
  t.is(opened.headers.get('location'), '/console/payments', 'its address alone searches for nothing');
  const [, , ...accesses] = await app.eventStore.load(sessionStream(sessionOf(member)));
  t.deepEqual(
    accesses.map(({ data }) => (data as { what: string; detail: string }).detail),
    ['2 words', '1 word', '1 word', '2 words'],
  );
  t.false(
    JSON.stringify(accesses.map(({ data }) => data))
      .toLowerCase()
      .includes('aminah'),
    'nor does the record',
  );
  const log = JSON.stringify(app.logged);
  for (const text of [...personal, 'ismail']) t.false(log.includes(text), text);
});

test.serial(
  'one search finds what is read out: a number or a reference, else a payer, which is recorded',
  async (t) => {
    const { app, payment, caughtUp } = await startPopulated(t, postgres);
    const member = await signIn(app, 'member');
    const id = await payment([], { reference: 'CUKAI/2026-00417' });
    await caughtUp();
    const find = (q: string) => member.post('/console/payments/find', { q });
    for (const [typed, address] of [
      ['2026 004', '/console/payments?q=2026%20004'],
      [` ${id.toLowerCase()} `, `/console/payments?q=${id.toLowerCase()}`],
      ['', '/console/payments?q='],
    ] as const)
      t.is((await find(typed)).headers.get('location'), address, typed);
    t.is((await load(app, member)).length, 0, 'none of them was a search by payer');
    for (const typed of ['900101-14-5678', 'ismail aminah', 'aminah@example.my']) {
      const answer = await find(typed);
      t.is(answer.status, 200, 'in place: the address does not hold it');
      t.deepEqual(paths(await answer.text()), [id], typed);
    }
    t.is((await load(app, member)).length, 3);
    const shown = await (await member.get('/console/payments?q=cukai')).text();
    t.regex(shown, /name="payer" value="cukai"/, 'a payer may be called like a part of a reference');
    t.is((await find("%' or 1=1 --")).status, 200);
  },
);

test.serial('a payment’s page has everything that happened to it, and nothing about who pays', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const member = await signIn(app, 'viewer');
  const id = await payment([...paidTwice, abandoned], { reference: poison, service: poison });
  const page = await (await member.get(`/console/payments/${id}`)).text();
  for (const text of [
    'The chain of 5 events is whole',
    'council requested RM 120.50',
    'Attempt 1: FPX Online Banking (Individual)',
    'receipt 7-20261120-HE7CEVBBN545JZX2',
    'though already paid',
    'callback-1 given up with 500: answered 500 (attempt 1, 5 ms)',
    'council.example',
    'Paid twice',
    `/console/exceptions/payment/${id}/2`,
    '2026-11-20 09:00:00',
  ])
    t.true(page.includes(text), text);
  for (const text of [...personal, '<img', 'council.example/callback']) t.false(page.includes(text), text);
  t.notRegex(page, /Send again|Ask the registry/, 'a viewer has no buttons');
  const elsewhere = startApp({}, app);
  t.is(
    (await memberOf((await elsewhere).url, member.id, member.cookie).get(`/console/payments/${id}`)).status,
    200,
    'without Postgres',
  );
  t.is(
    (await memberOf((await elsewhere).url, member.id, member.cookie).get('/console/payments')).status,
    503,
  );
  await (await elsewhere).close();
  for (const path of ['0', '5M1SKTZWGWX0D8P81WNP17GSCQ', '%00', '..%2f..', 'x'.repeat(3000)])
    t.is((await member.get(`/console/payments/${path}`)).status, 404, path);
});

test.serial('a payment is shown as at a moment, without what came later and without actions', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const admin = await signIn(app, 'admin');
  const id = await payment([chosen(1), succeeded(result(1, 'succeeded'))]);
  const path = `/console/payments/${id}`;
  const read = async (query: string) => (await admin.get(`${path}${query}`)).text();
  const [now, before] = [await read(''), await read('?revision=1')];
  t.true(now.includes('Successful') && now.includes('Record a refund') && now.includes('3 events is whole'));
  t.false(before.includes('Successful') || before.includes('Record a refund') || before.includes('/payer"'));
  t.regex(before, /1 later event is left out[\s\S]*3 events is whole/);
  const [requested] = await app.eventStore.load(paymentStream(id));
  const { at } = (requested?.data ?? {}) as { at: string };
  t.regex(await read(`?at=${encodeURIComponent(at)}`), /later events? (is|are) left out/);
  t.regex(await read('?at=2099-01-01T00:00'), /Record a refund/);
  for (const [query, status] of [
    ['?at=1999-01-01', 404],
    ['?at=x', 400],
    ['?revision=3', 400],
    ['?revision=-1', 400],
    ['?revision=1&at=2026-11-20', 400],
    ['?at=', 200],
  ] as const)
    t.is((await admin.get(`${path}${query}`)).status, status, query);
});

test.serial('the page of a payment names an event that was changed', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const member = await signIn(app, 'viewer');
  const id = await payment([chosen(1)]);
  const metadata = { schemaVersion: 1, hash: '0'.repeat(64), previousHash: '1'.repeat(64), actor: poison };
  const forged = { id: crypto.randomUUID(), type: 'Odd', data: { note: poison }, metadata };
  await app.eventStore.append(paymentStream(id), [forged], 1);
  const page = await (await member.get(`/console/payments/${id}`)).text();
  t.regex(page, /The chain is broken at event 2/);
  t.regex(page, /This event cannot be read/);
  t.false(page.includes('<img'));
  const evidence = await (await member.get(`/console/payments/${id}/events/2`)).text();
  t.regex(evidence, /is not what was written/);
  t.false(evidence.includes('<img'));
});

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
  t.is((await auditor.get('/console/access-log?before=x')).status, 400);
  t.is((await auditor.get('/console/access-log?staff=%00&payment=%00')).status, 200);
});

test.serial('the button of a note pressed twice makes one note', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const [member, other] = [await signIn(app, 'member'), await signIn(app, 'member')];
  const id = await payment([]);
  const path = `/console/payments/${id}`;
  const formOf = async (note: string) => {
    const html = await (await member.get(path)).text();
    return { note, events: /name="events" value="(\d+)"/.exec(html)?.[1] ?? '' };
  };
  const notes = async () =>
    (await app.eventStore.load(paymentStream(id))).filter(({ type }) => type === 'StaffNoteAdded').length;
  const first = await formOf('Aminah called');
  const answers = await Promise.all(Array.from({ length: 5 }, () => member.post(`${path}/notes`, first)));
  for (const answer of answers) t.is(answer.headers.get('location'), `${path}?notice=noted`);
  t.is(await notes(), 1);
  t.is((await member.post(`${path}/notes`, first)).status, 303, 'also much later');
  t.is(await notes(), 1);
  await member.post(`${path}/notes`, { ...first, note: 'Aminah called, again' });
  t.is(await notes(), 2, 'another text');
  await other.post(`${path}/notes`, first);
  t.is(await notes(), 3, 'another person');
  await member.post(`${path}/notes`, await formOf('Aminah called'));
  t.is(await notes(), 4, 'from the page as it is now');
  checkChain(t, await app.eventStore.load(paymentStream(id)));
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
    (await load(app, viewer)).map(({ data }) => (data as { detail: string }).detail),
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

test.serial('a delivery is sent again for those who have the permission', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const member = await signIn(app, 'member');
  const id = await payment([chosen(1), succeeded(result(1, 'succeeded')), abandoned]);
  const page = await (await member.get(`/console/payments/${id}`)).text();
  t.regex(page, /Send again/);
  const path = `/console/payments/${id}/send-again`;
  const answer = await member.post(path, { delivery: 'callback-1' });
  t.is(answer.headers.get('location'), `/console/payments/${id}?notice=sent-again`);
  const event = await app.eventStore.loadLast(paymentStream(id));
  t.like(event, { type: 'CallbackRequested', data: { delivery: 'callback-1' } });
  t.like(event?.metadata, { actor: `staff:${member.id}` });
  const again = await member.post(path, { delivery: 'callback-1' });
  t.is(again.headers.get('location'), `/console/payments/${id}?notice=already-due`);
  for (const delivery of ['', 'callback-9', '__proto__', poison])
    t.is((await member.post(path, { delivery })).status, 404, delivery);
  t.is((await member.post('/console/payments/0/send-again', { delivery: 'email' })).status, 404);
  const named = await (await member.get(`/console/payments/${id}`)).text();
  t.true(named.includes('Staff, member'), 'the page names the member of staff');
});

test.serial('the registry is asked for those who have the permission', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const member = await signIn(app, 'member');
  const id = await payment([chosen(1)]);
  const lands = await payment([chosen(1)], { channel: 'landreg', reference: 'TX-1' });
  const answers: Record<string, RegistryAnswer> = {
    [id]: { status: 'succeeded', results: [result(1, 'succeeded')], others: [], raw: {} },
    'TX-1': { status: 'not_found', others: [], results: [], raw: {} },
  };
  const answerOf = async (name: string) => {
    const answer = answers[name];
    if (!answer) throw new RegistryUnavailable('unreachable', 'no answer');
    return answer;
  };
  const asking = await startApp(
    {
      registry: {
        ask: answerOf,
        askByTransaksiId: ({ reference }) => answerOf(reference),
      },
    },
    app,
  );
  const there = memberOf(asking.url, member.id, member.cookie);
  const ask = async (of: string) =>
    (await there.post(`/console/payments/${of}/requery`)).headers.get('location');
  t.is(await ask(id), `/console/payments/${id}?notice=requery-news`);
  const event = await app.eventStore.loadLast(paymentStream(id));
  t.like(event, { type: 'PaymentSucceeded', data: { source: 'requery' } });
  t.like(event?.metadata, { actor: `staff:${member.id}` });
  t.is(await ask(id), `/console/payments/${id}?notice=requery-no-news`);
  t.is(await ask(lands), `/console/payments/${lands}?notice=requery-not-found`);
  const unknown = await payment([chosen(1)]);
  const down = await there.post(`/console/payments/${unknown}/requery`);
  t.is(down.status, 502);
  t.regex(await down.text(), /registry cannot be reached/);
  await asking.close();
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
