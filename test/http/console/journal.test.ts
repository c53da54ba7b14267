// The journal and the statements in the console: their amounts, who may see them, and accounts or days that do not exist.
import test, { type ExecutionContext } from 'ava';
import { parse } from 'csv-parse/sync';
import { Refused } from '../../../src/commands/decider.ts';
import { dayOf } from '../../../src/common/malaysian-time.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { roles } from '../../../src/events/user.ts';
import type { Documents } from '../../../src/statements/document.ts';
import { stored } from '../../audit/helpers.ts';
import { until } from '../../embedded/helpers.ts';
import { emptyJournal, feed, paid, recorded } from '../../projections/journals.ts';
import { hasPoppler, textOf } from '../../receipts/pdf-reader.ts';
import { startApp } from '../../support/app.ts';
import { signIn } from '../../support/console.ts';
import { documents } from '../../support/documents.ts';
import { createDatabase } from '../../support/postgres.ts';

const postgres = await createDatabase();
const shared = await startApp();
test.after.always(async () => {
  await shared.close();
});

const clock = () => new Date('2026-11-24T02:00:00.000Z');
const value = { paidAt: '2026-11-20T03:00:00.000Z' };

async function start(t: ExecutionContext, parts: { documents?: Documents } = {}, now = clock) {
  const db = await emptyJournal(t, postgres);
  const app = await startApp({ console: { db, ...parts }, clock: now }, shared);
  t.teardown(() => app.close());
  await feed(db, recorded('A', paid({ no: 1, at: '2026-11-20T03:00:01.000Z', ...value, chargeSen: 50 })));
  await feed(db, recorded('B', paid({ no: 2, at: '2026-11-23T01:00:00.000Z', ...value, mode: 'cc' })));
  const page = async (path: string, status = 200) => {
    const member = await signIn(app, 'viewer');
    const answer = await member.get(path);
    t.is(answer.status, status, path);
    return await answer.text();
  };
  return { db, app, page };
}

/** What a reader sees of a page, white space as single spaces. */
const seen = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&amp;', '&');

test.serial('every role reads the trial balance, as of now and as of an earlier day', async (t) => {
  const { app, page } = await start(t);
  for (const role of roles) {
    const member = await signIn(app, role);
    const html = await (await member.get('/console/journal')).text();
    t.regex(
      seen(html),
      /merchant:council Owed by us to the agency RM 0\.00 RM 20\.03 RM 20\.03 Cr Total RM 20\.53 RM 20\.53/,
    );
    t.regex(html, /Debits equal credits/);
    t.true(
      html.includes(
        '/console/journal/account?account=merchant%3Acouncil&amp;from=2026-11-01&amp;to=2026-11-24',
      ),
    );
  }
  const known = seen(await page('/console/journal?at=2026-11-20'));
  t.regex(known, /As of 2026-11-20 23:59:59/);
  t.regex(known, /merchant:council Owed by us to the agency RM 0\.00 RM 10\.01 RM 10\.01 Cr/);
  t.regex(seen(await page('/console/journal?at=2020-01-01')), /Nothing was posted by then/);
  await page('/console/journal?at=yesterday', 400);
});

test.serial('the page says where debits and credits differ', async (t) => {
  const { db, page } = await start(t);
  await db.raw(`update journal.daily_sums set debit_sen = debit_sen + 7 where account = 'gateway:fpx'`);
  const html = await page('/console/journal');
  t.regex(seen(html), /Debits and credits differ by RM 0\.07/);
  t.notRegex(html, /Debits equal credits/);
});

test.serial('the statement of an account: opening, lines that lead to their payments, closing', async (t) => {
  const { page, app } = await start(t);
  const path = '/console/journal/account?account=merchant:council&from=2026-11-21&to=2026-11-24';
  const html = await page(path);
  t.regex(
    seen(html),
    /Opening balance RM 10\.01 Cr .* Payment INV-2 R-2 RM 10\.02 RM 20\.03 Cr Closing balance RM 20\.03 Cr/,
  );
  t.true(html.includes('<a href="/console/payments/B"'));
  const member = await signIn(app, 'viewer');
  const csv = await member.get(path.replace('account?', 'account.csv?'));
  t.is(
    csv.headers.get('content-disposition'),
    'attachment; filename="merchant-council-2026-11-21-2026-11-24.csv"',
  );
  const rows: Record<string, string>[] = parse(await csv.text(), { columns: true, bom: true });
  t.deepEqual(
    rows.map(({ kind, balance }) => [kind, balance]),
    [
      ['opening', '10.01'],
      ['payment', '20.03'],
      ['closing', '20.03'],
    ],
  );
  t.regex(await page('/console/journal/account?account=bank'), /Opening balance/);
  await page('/console/journal/account?account=merchant:nobody', 404);
  await page('/console/journal/account?account=merchant:%00', 404);
  await page('/console/journal/account?account=merchant:council&from=2026-11-31', 400);
  await page('/console/journal/account?account=merchant:council&from=2026-11-21&to=2026-11-20', 400);
  await page('/console/journal/account?account=merchant:council&after=x', 400);
  await page('/console/journal/account?account=merchant:council&after=1~A~x~1', 400);
});

test.serial('a long statement is read page by page', async (t) => {
  const { db, page } = await start(t);
  const events = Array.from({ length: 250 }, (_, no) =>
    recorded(`P${no}`, paid({ no: no + 10, at: '2026-11-22T01:00:00.000Z' })),
  );
  await feed(db, events.flat());
  const first = await page('/console/journal/account?account=merchant:council&from=2026-11-22&to=2026-11-22');
  t.is(first.match(/<td>Payment<\/td>/g)?.length, 200);
  const next = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await page(next);
  t.is(second.match(/<td>Payment<\/td>/g)?.length, 50);
  const balances = seen(second).match(/RM [\d,.]+ Cr/g) ?? [];
  t.is(balances.at(-1), balances.at(-2), 'the last line is what it closes with');
  t.true(second.includes('First page'));
  t.true(second.includes('Opening balance, before lines on the previous pages'));
  t.false(first.includes('Opening balance, before'));
});

test.serial('what an agency collected on a day: the page, its CSV and its PDF say the same', async (t) => {
  const { app, page } = await start(t);
  const form = await page('/console/statements');
  t.regex(form, /<option value="council">Example City Council \(council\)/);
  t.regex(form, /name="day" value="2026-11-23"/);
  const html = await page('/console/statements?merchant=council&day=2026-11-20');
  t.regex(seen(html), /Total 2 RM 20\.03 RM 0\.50 RM 20\.53/);
  t.regex(seen(html), /R-2 Recorded after the day, 2026-11-23 09:00:00 INV-2 Credit Card RM 10\.02 RM 0\.00/);
  t.regex(
    seen(html),
    /On this statement RM 20\.03 Paid on this day, recorded on another – RM 10\.02 Recorded in the account RM 10\.01/,
  );
  t.notRegex(html, /Both agree/);
  const later = seen(await page('/console/statements?merchant=council&day=2026-11-23'));
  t.regex(
    later,
    /On this statement RM 0\.00 Recorded on this day, paid on another RM 10\.02 Recorded .* RM 10\.02/,
  );
  const links = [...html.matchAll(/href="(\/console\/statements\/collection[^"]+)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  );
  t.is(links.length, 3);
  const member = await signIn(app, 'member');
  for (const link of links) {
    const answer = await member.get(link);
    t.is(answer.status, 200);
    t.true(link.includes('known=2026-11-24T02%3A00%3A00.000Z'), 'what is downloaded is what was seen');
    const type = answer.headers.get('content-type') ?? '';
    const body = Buffer.from(await answer.arrayBuffer());
    if (type.startsWith('text/csv')) {
      const rows: Record<string, string>[] = parse(body, { columns: true, bom: true });
      t.deepEqual(
        rows.map(({ total }) => total),
        ['10.51', '10.02'],
      );
    } else {
      t.is(type, 'application/pdf');
      if (hasPoppler) t.regex(textOf(body), link.endsWith('lang=en') ? /DAILY COLLECTION/ : /KUTIPAN HARIAN/);
    }
  }
  const known = await page('/console/statements?merchant=council&day=2026-11-20&known=2026-11-20');
  t.regex(seen(known), /Total 1 RM 10\.01.*Recorded in the account RM 10\.01 .* Both agree/);
  t.regex(seen(await page('/console/statements?merchant=council&day=2026-11-19')), /Nothing was collected/);
});

test.serial('an agency or a day that does not exist is refused, on the page and as a download', async (t) => {
  const { page } = await start(t);
  for (const path of [
    '/console/statements',
    '/console/statements/collection.csv',
    '/console/statements/collection.pdf',
  ]) {
    await page(`${path}?merchant=nobody&day=2026-11-20`, 404);
    await page(`${path}?merchant=council&day=2026-11-31`, 400);
    await page(`${path}?merchant=council&day=2026-11-20&known=soon`, 400);
  }
  await page('/console/statements/collection.csv', 400);
  await page('/console/statements?merchant=council&day=2026-11-20&after=1~', 400);
});

test.serial('without Postgres the pages say so, and nothing about the cause', async (t) => {
  const { app } = await start(t);
  const member = await signIn(app, 'admin');
  const away = await startApp({ clock }, shared);
  t.teardown(() => away.close());
  for (const path of ['/console/journal', '/console/statements', '/console/journal/account?account=a']) {
    const answer = await fetch(`${away.url}${path}`, { headers: { cookie: member.cookie } });
    t.is(answer.status, 503, path);
    t.notRegex(await answer.text(), /ECONNREFUSED|postgres/);
  }

  const [, token = ''] =
    /name="token" value="([^"]+)"/.exec(await (await member.get('/console/own-account')).text()) ?? [];
  const body = new FormData();
  body.set('token', token);
  body.set('file', new Blob(['REFERENCE,SETTLED_ON,TOTAL,PAYMENT_MODE,AMOUNT\n']));
  const headers = { cookie: member.cookie };
  const sent = await fetch(`${away.url}/console/settlements`, { method: 'POST', headers, body });
  t.is(sent.status, 503, 'a settlement');
});

test.serial(
  'only so many PDFs of statements are made at a time, each of which holds its receipts',
  async (t) => {
    const going = Promise.withResolvers<void>();
    let waiting = 0;
    const collection: Documents['collection'] = async (statement) => {
      waiting += 1;
      await going.promise;
      return documents.collection(statement);
    };
    const { app } = await start(t, { documents: { ...documents, collection } });
    const viewers = await Promise.all(Array.from({ length: 5 }, () => signIn(app, 'viewer')));
    const ask = async (no: number) => {
      const path = '/console/statements/collection.pdf?merchant=council&day=2026-11-20';
      const answer = await viewers[no]?.get(path);
      await answer?.arrayBuffer();
      return answer?.status;
    };
    const first = Array.from({ length: 5 }, () => ask(0));
    await until(() => waiting === 5);
    t.is(await ask(0), 503, 'one person');
    for (const no of [1, 2, 3]) first.push(...Array.from({ length: 5 }, () => ask(no)));
    await until(() => waiting === 20);
    t.is(await ask(4), 503, 'all together');
    going.resolve();
    t.true((await Promise.all(first)).every((status) => status === 200));
    t.is(await ask(4), 200);
  },
);

test.serial(
  'a day with more receipts than a PDF holds is refused, and the page says what to take',
  async (t) => {
    const collection: Documents['collection'] = async () => {
      throw new Refused('too_many_receipts', 'A PDF has at most 20000 receipts; use the CSV for this day');
    };
    const { page } = await start(t, { documents: { ...documents, collection } });
    const path = '/console/statements/collection.pdf?merchant=council&day=2026-11-20';
    t.regex(seen(await page(path, 409)), /use the CSV for this day/);
  },
);

// The last test, because no journal takes up what it writes to the shared log.
test.serial(
  'of a journal that is behind or stopped the pages say so, and documents are refused',
  async (t) => {
    // The event store says by the real clock when an event was stored.
    const { db, app, page } = await start(t, {}, () => new Date());
    const missing = stored(paid({ at: '2026-11-24T01:00:00.000Z' }), 'Z');
    await app.eventStore.append(paymentStream('Z'), missing, 'no_stream');
    const behind = /The journal does not agree with the log yet, and may lack what was recorded last/;
    t.regex(seen(await page('/console/journal')), behind);
    await db.raw(`update checkpoints set fault = ? where name = 'journal'`, [
      JSON.stringify({ message: 'Unknown event type X', event: null }),
    ]);
    const still = /The journal has halted, and lacks everything after that: Unknown event type X/;
    const account = `account=merchant:council&from=2026-11-20&to=${dayOf(new Date().toISOString())}`;
    const day = 'merchant=council&day=2026-11-20';
    for (const path of ['journal', `journal/account?${account}`, `statements?${day}`])
      t.regex(seen(await page(`/console/${path}`)), still);
    for (const path of [
      `journal/account.csv?${account}`,
      `statements/collection.csv?${day}`,
      `statements/collection.pdf?${day}`,
    ])
      t.regex(seen(await page(`/console/${path}`, 503)), still);
    await page(`/console/statements/collection.csv?${day}&known=2026-11-20`);
  },
);
