// Finding payments: lists, filters, and searches by payer, which are recorded before they are made.
import test from 'ava';
import { sessionStream } from '../../../src/events/session.ts';
import { until } from '../../embedded/helpers.ts';
import { cookieOf, signIn } from '../../support/console.ts';
import { payer as aminah, applied, chosen, result, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { accessesOf, listedIn, personal, poison, sessionOf } from './payment-pages.ts';
import { paidTwice, startPopulated } from './populated.ts';

const postgres = await createDatabase();

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
  const found = async (query: string) =>
    listedIn(await (await member.get(`/console/payments${query}`)).text());
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
    seen.push(...listedIn(html));
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
    t.deepEqual(listedIn(html), [...ids.slice(0, 7), ...ids.slice(8, 51)]);
    t.regex(html, /54 in all, RM 5,414\.78/);
    t.regex(html, /aria-sort="ascending"><a class="sort" href="[^"]*sort=-amount"/);
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(html) ?? [];
    t.deepEqual(listedIn(await read(next.replaceAll('&amp;', '&'))), ids.slice(51));
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

test.serial('one person downloads at most five lists at a time; each that is over makes room', async (t) => {
  const { app, caughtUp, db, payment } = await startPopulated(t, postgres);
  await payment([]);
  await caughtUp();
  const [member, other] = [await signIn(app, 'viewer'), await signIn(app, 'viewer')];
  const path = '/console/payments/export.csv';
  const lock = await db.transaction();
  await lock.raw('lock table payments.payments');
  const asked = Array.from({ length: 5 }, () => member.get(path));
  const waiting = "select from pg_locks where not granted and relation = 'payments.payments'::regclass";
  await until(async () => (await lock.raw(waiting)).rows.length === 5);
  t.is((await member.get(path)).status, 503);
  asked.push(other.get(path));
  await lock.rollback();
  for (const answer of await Promise.all(asked)) t.is((await answer.text()).split('\r\n').length, 3);
  await until(async () => (await member.get(path)).status === 200);
});

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
  t.deepEqual(listedIn(html), [id]);
  t.regex(html, /Payments of payers with “<bdi>ismail AMINAH<\/bdi>”/);
  t.false(html.includes('class="filters"'), 'a filter would show the payments of everybody');
  for (const text of personal.filter((word) => word !== 'AMINAH')) t.false(html.includes(text), text);
  t.deepEqual(listedIn((await search('900101-14-5678')).html), [id]);
  t.deepEqual(listedIn((await search('aminah@example.my')).html), [id]);
  t.deepEqual(listedIn((await search('Aminah Siti')).html), []);
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
    t.is((await find(`2026-004${'-'.repeat(491)}😀`)).status, 303, 'cut within a character');
    t.is((await accessesOf(app, member)).length, 0, 'none of them was a search by payer');
    for (const typed of ['900101-14-5678', 'ismail aminah', 'aminah@example.my']) {
      const answer = await find(typed);
      t.is(answer.status, 200, 'in place: the address does not hold it');
      t.deepEqual(listedIn(await answer.text()), [id], typed);
    }
    t.is((await accessesOf(app, member)).length, 3);
    const shown = await (await member.get('/console/payments?q=cukai')).text();
    t.regex(shown, /name="payer" value="cukai"/, 'a payer may be called like a part of a reference');
    t.is((await find("%' or 1=1 --")).status, 200);
  },
);
