// The first page: its metrics are those of the day, and each links to as many rows as it counts.
import test from 'ava';
import { recordVerified } from '../../../src/audit/background-check/schedule.ts';
import { sealedWithinMs } from '../../../src/audit/seals/sealing-status.ts';
import type { Violation } from '../../../src/audit/verify/violations.ts';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import { sealsStream } from '../../../src/events/seals.ts';
import { cause } from '../../audit/ledger.ts';
import { startApp } from '../../support/app.ts';
import { signIn } from '../../support/console.ts';
import { applied, chosen, result, sen, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { abandoned, type Populated, paidTwice, startPopulated } from './populated.ts';

const postgres = await createDatabase();

/** Malaysian midnight of 20 November, and the moments on both sides of its ends. */
const dayStart = '2026-11-19T16:00:00.000Z';
const before = '2026-11-19T15:59:59.999Z';
const dayEnd = '2026-11-20T16:00:00.000Z';

const delivered = {
  type: 'CallbackDelivered',
  data: { at: '2026-11-20T01:05:02.500Z', delivery: 'callback-1', attempt: 1, durationMs: 5, status: 200 },
} as const;

async function fill({ payment, caughtUp }: Populated): Promise<void> {
  await payment([chosen(1), succeeded(result(1, 'succeeded')), delivered]);
  await payment([chosen(1), succeeded(result(1, 'succeeded')), delivered], { amountSen: sen(950) });
  await payment([chosen(1), applied(result(1, 'failed')), abandoned], { at: dayStart });
  await payment([], { at: dayStart });
  // Asked for the day before and paid on the day; asked for at the next midnight, and paid before it was.
  await payment([chosen(1), succeeded(result(1, 'succeeded'))], { at: before });
  await payment(paidTwice, { at: dayEnd });
  await caughtUp();
}

/** The tiles of the page: metric and link by name. */
function tilesOf(html: string): Record<string, { metric: string; url: string }> {
  const tiles = html.matchAll(/<a class="tile[^"]*" href="([^"]+)"><strong>([^<]+)<\/strong>(.*?)<\/a>/gs);
  const entries = Array.from(tiles, ([, url = '', metric = '', rest = '']) => {
    const name = rest.replace(/<[^>]*>/g, '').trim();
    return [name, { metric, url: url.replaceAll('&amp;', '&') }] as const;
  });
  return Object.fromEntries(entries);
}

test.serial('metrics of a day, by its Malaysian midnights', async (t) => {
  const populated = await startPopulated(t, postgres);
  await fill(populated);
  const viewer = await signIn(populated.app, 'viewer');
  const html = await (await viewer.get('/console?day=2026-11-20')).text();
  const tiles = tilesOf(html);
  const metrics = Object.fromEntries(Object.entries(tiles).map(([name, { metric }]) => [name, metric]));
  t.deepEqual(metrics, {
    Contradiction: '0',
    Discrepancy: '0',
    'Wrong amount': '0',
    'Paid twice': '1',
    'Late success': '0',
    'Outcome unknown': '0',
    'Parked stream': '0',
    'Unmatched result': '0',
    'Waits for approval': '0',
    'Deliveries given up': '1',
    // Emails and the callbacks that nobody has sent.
    'Deliveries due': String(4 + 2),
    'Paid, in 4 payments': 'RM 371.00',
    Requested: '4',
    'Shared gateway transaction': '0',
    'Shared receipt number': '0',
    Successful: '2',
    Failed: '1',
    Cancelled: '0',
    Pending: '0',
    'Awaiting payment': '1',
  });
  t.true(html.includes('09:00: 2 requested') && html.includes('00:00: 2 requested'), 'by the hour');
  t.true(html.includes('66.6 % · 2 of 3'), 'success by method');
  t.true(html.includes('2.5 s'), 'callback delay');

  // The page behind each metric has as many rows.
  for (const [name, { metric, url }] of Object.entries(tiles)) {
    const list = await (await viewer.get(url)).text();
    const rows = list.split('<tbody>')[1]?.split('<tr').length ?? 1;
    const counted = /^Paid, in (\d+) /.exec(name)?.[1] ?? metric;
    t.is(String(rows - 1), counted, `${name} ${url}`);
  }
});

test.serial('an empty day, a day that does not exist, and links to the days before and after', async (t) => {
  const populated = await startPopulated(t, postgres);
  await populated.caughtUp();
  const viewer = await signIn(populated.app, 'viewer');
  const page = await viewer.get('/console?day=2026-03-01');
  const html = await page.text();
  t.is(page.status, 200);
  t.true(html.includes('day=2026-02-28') && html.includes('day=2026-03-02'));
  t.true(html.includes('No method was chosen') && html.includes('No callback of this day'));
  t.is(tilesOf(html)['Paid, in 0 payments']?.metric, 'RM 0.00');
  t.is((await viewer.get('/console')).status, 200);
  t.is((await viewer.get('/console?day=')).status, 200);
  for (const day of ['2026-02-30', 'today', '0000-01-01', '9999-12-31', '<b>'])
    t.is((await viewer.get(`/console?day=${encodeURIComponent(day)}`)).status, 400, day);
});

test.serial('the first page says that the sealer has stopped', async (t) => {
  const { app, caughtUp, db } = await startPopulated(t, postgres);
  await caughtUp();
  const viewer = await signIn(app, 'viewer');
  const hasStopped = /role="alert".*when-the-sealer-stops/s;
  t.notRegex(await viewer.read('/console'), hasStopped);
  const inHalfAnHour = () => new Date(Date.now() + sealedWithinMs + 1);
  const later = await startApp({ clock: inHalfAnHour, console: { db } }, app);
  t.teardown(later.close);
  const overdue = await (await signIn(later, 'viewer')).read('/console');
  t.regex(overdue, hasStopped);
  t.regex(overdue, /No event since .* is sealed/s);
  const noSeal = chain([{ type: 'LogSealed', data: {} }], genesisHash, cause());
  await app.eventStore.append(sealsStream, noSeal, 'no_stream');
  const contradicted = await viewer.read('/console');
  t.regex(contradicted, hasStopped);
  t.regex(contradicted, /contradicts what was sealed before/);
});

test.serial('the first page says what the last check found', async (t) => {
  const { app, caughtUp, db } = await startPopulated(t, postgres);
  await caughtUp();
  const viewer = await signIn(app, 'viewer');
  const page = async () => (await (await viewer.get('/console')).text()).replace(/<[^>]+>|\s+/g, ' ');
  t.teardown(() => db.raw('drop table if exists last_check, last_verify'));
  t.regex(await page(), /exceptions have not been checked yet/);
  const keep = async (result: object) => {
    await db.raw('drop table if exists last_check');
    await db.raw('create table last_check (id integer primary key, result json not null)');
    await db.raw('insert into last_check values (1, ?)', [JSON.stringify({ checked: [], ...result })]);
  };
  const verified = async (at: string, violations: Violation[], notes: string[] = []) =>
    await recordVerified(db, new Date(at), { checked: [], notes, violations });
  const now = new Date().toISOString();
  await keep({ at: now, violations: [] });
  t.regex(await page(), /Books, rows and exceptions agreed at/);
  await keep({ at: '2026-01-01T00:00:00.000Z', violations: [] });
  t.regex(await page(), /were not checked since/);
  const id = '0'.repeat(26);
  const first = `The row ${id} is missing`;
  await keep({ at: now, violations: [{ kind: 'rows of payments.payments', count: 3, first }] });
  t.regex(await page(), /found violations.*The row 0+ is missing *, and 2 more/);
  t.true((await (await viewer.get('/console')).text()).includes(`href="/console/payments/${id}"`));
  await keep({ at: now, violations: [] });
  t.notRegex(await page(), /verified/);
  await verified(now, []);
  t.regex(
    await page(),
    /Books, rows and exceptions agreed at.*The whole log, its seals and all rows were verified at/,
  );
  const note = (count: number) => `${count} events are not sealed yet: only their chains protect them.`;
  await verified(now, [], [note(7)]);
  t.regex(await page(), /verified at [^,]*, with notes: 1.*7 events are not sealed yet/);
  await verified('2026-01-01T00:00:00.000Z', []);
  t.regex(await page(), /The whole log was last verified at/);
  await verified(
    now,
    [{ kind: 'changed events', count: 1, first: 'X revision 0 is not what was written' }],
    [note(8)],
  );
  t.regex(
    await page(),
    /The verification of .* found violations.*X revision 0 is not what was written.*8 events are not/,
  );
});
