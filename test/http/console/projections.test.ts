// The page of projections, on a log and tables of its own: what it shows, who may rebuild, and the live progress.
import { connect } from 'node:net';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import { projectionStream } from '../../../src/events/projection-requests.ts';
import { userStream } from '../../../src/events/user.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { users } from '../../../src/projections/users/projection.ts';
import { rebuildAsRequested } from '../../../src/reactors/projection-requests/perform.ts';
import { startRequests } from '../../../src/reactors/projection-requests/watch.ts';
import { until } from '../../embedded/helpers.ts';
import { append, emptyDatabase, log, paymentRequested, reached, run } from '../../projections/helpers.ts';
import { startApp } from '../../support/app.ts';
import { signIn } from '../../support/console.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';

const postgres = await createDatabase();

test.serial('a rebuild is requested on the page, watched, and done', async (t) => {
  const { db, url } = await emptyDatabase(postgres);
  const closing = new AbortController();
  let time: Date | null = null;
  const app = await startApp({
    clock: () => time ?? new Date(),
    console: { db, closing: closing.signal },
    content: { projections: [payments, users], projectionStatus: () => projectionStatus(db) },
  });
  t.teardown(app.close);
  const { eventStore } = app;
  run(t, payments, app, { db, url });
  await append(eventStore, 'A', [paymentRequested()]);
  const last = await append(eventStore, 'B', [paymentRequested()]);
  await reached(db, 'payments', last);
  const member = await signIn(app, 'member');
  const viewer = await signIn(app, 'viewer');

  await db.raw(`update checkpoints set parked = '[{"stream":"payment-Z"}]'`);
  const page = await (await viewer.get('/console/projections')).text();
  t.regex(page, /kind=parked">1 parked<\/a>/);
  await db.raw(`update checkpoints set parked = '[]'`);
  t.regex(page, /payments<\/th>\s*<td>.*Up to date/);
  t.regex(page, /users<\/th>\s*<td>.*Not known/);
  await db.raw('insert into checkpoints (name, version) values (?, ?)', [users.name, users.version]);
  const [first] = await eventStore.load(userStream(member.id));
  // As in health and `ledger status`.
  for (const [lagMs, shown] of [
    [10_000, /users<\/th>\s*<td>.*Up to date/],
    [10_001, /users<\/th>\s*<td>.*Behind/],
  ] as const) {
    time = new Date((first?.created.getTime() ?? 0) + lagMs);
    t.regex(await (await viewer.get('/console/projections')).text(), shown);
  }
  time = null;
  t.notRegex(page, /<button[^>]*>Rebuild/);
  t.is((await viewer.post('/console/projections/payments/rebuild')).status, 403);
  t.is((await member.post('/console/projections/nonsense/rebuild')).status, 404);

  const watched = await viewer.get('/console/live?of=rebuilds');
  t.is(watched.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  t.is(watched.headers.get('cache-control'), 'no-store');
  let told = '';
  const telling = (async () => {
    for await (const chunk of watched.body ?? []) told += Buffer.from(chunk).toString();
  })();

  t.is((await member.post('/console/projections/payments/rebuild')).status, 303);
  t.is((await member.post('/console/projections/payments/rebuild')).status, 303);
  const events = await eventStore.load(projectionStream('payments'));
  t.is(events.length, 1, 'requested once');
  t.is(Reflect.get(Object(events[0]?.metadata), 'actor'), `staff:${member.id}`);
  await until(() => told.includes('data: changed'));
  t.regex(await (await member.get('/console/projections')).text(), /<noscript><meta http-equiv="refresh"/);

  const stores = { db, eventStore, log, personalData, runtime: testRuntime() };
  const role = startRequests({
    ...stores,
    projections: [payments],
    rebuild: (projection, signal) => rebuildAsRequested({ ...stores, projection, databaseUrl: url, signal }),
  });
  t.teardown(role.stop);
  await until(async () => (await eventStore.load(projectionStream('payments'))).length === 2);
  await until(() => told.split('data: changed').length > 2);
  // On a busy machine the second change may be the beginning of the rebuild.
  await until(async () => /from 2 events in/.test(await (await member.get('/console/projections')).text()));

  closing.abort();
  await telling;
  t.pass('the stream ended with the process');
});

test.serial(
  'a page is told of what is new, as long as its session lasts, without prolonging it',
  async (t) => {
    const clock = { at: Date.parse('2026-11-24T02:00:00.000Z') };
    const app = await startApp({ clock: () => new Date(clock.at), monotonicMs: () => clock.at });
    t.teardown(app.close);
    const viewer = await signIn(app, 'viewer');
    const id = '0'.repeat(26);
    const path = `/console/live?of=${id}`;
    t.is((await fetch(`${app.url}${path}`, { redirect: 'manual' })).status, 303);
    const read = async (query: string, cookie = viewer.cookie) => {
      const answer = await fetch(`${app.url}${path}${query}`, { headers: { cookie } });
      const decoder = new TextDecoder();
      let told = '';
      const done = (async () => {
        for await (const chunk of answer.body ?? []) told += decoder.decode(chunk as Uint8Array);
      })();
      return { answer, told: () => told, done };
    };
    const [quiet, behind] = [await read(''), await read('&seen=0')];
    await until(() => behind.told().includes('data: changed'));
    await append(app.eventStore, id, [paymentRequested()]);
    await until(() => quiet.told().includes('data: changed'));
    // Two thirds of the idle time: any other request would be given a new cookie.
    clock.at += 20 * 60_000;
    t.true((await viewer.get('/console/own-account')).headers.has('set-cookie'));
    t.false((await viewer.get('/console/own-account', { 'x-background': '1' })).headers.has('set-cookie'));
    const late = await read('');
    t.is(late.answer.status, 200);
    t.false(late.answer.headers.has('set-cookie'));
    await viewer.post('/console/sign-out');
    clock.at += 60_000;
    await Promise.all([quiet.done, behind.done, late.done]);
    t.pass('all of them ended with the session');
  },
);

test.serial(
  'the number of pages that one person watches is limited, and one that leaves makes room',
  async (t) => {
    const app = await startApp();
    t.teardown(app.close);
    const viewer = await signIn(app, 'viewer');
    const other = await signIn(app, 'viewer');
    const leave = new AbortController();
    const watch = () =>
      fetch(`${app.url}/console/live?of=rebuilds`, {
        headers: { cookie: viewer.cookie },
        signal: leave.signal,
      });
    const watched = await Promise.all(Array.from({ length: 20 }, watch));
    t.true(watched.every(({ status }) => status === 200));
    t.is((await viewer.get('/console/live?of=rebuilds')).status, 503);
    const open = await other.get('/console/live?of=rebuilds');
    t.is(open.status, 200, 'others are not kept out');
    await open.body?.cancel();
    leave.abort();
    await until(async () => {
      const answer = await viewer.get('/console/live?of=rebuilds');
      await answer.body?.cancel();
      return answer.status === 200;
    });
    t.pass();
  },
);

test.serial('whoever has left before the answer begins is not counted among those who watch', async (t) => {
  const app = await startApp();
  t.teardown(app.close);
  const viewer = await signIn(app, 'viewer');
  const asked = `GET /console/live HTTP/1.1\r\nHost: ledger\r\nCookie: ${viewer.cookie}\r\n\r\n`;
  for (let count = 0; count < 20; count += 1) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.write(asked, () => socket.resetAndDestroy());
  }
  await until(() => app.logged.filter(({ route }) => route === '/console/live').length === 20);
  const answer = await viewer.get('/console/live');
  await answer.body?.cancel();
  t.is(answer.status, 200);
  // Leaving a page is no fault. The service notices it before it answers the next page.
  await viewer.get('/console/own-account');
  t.notRegex(JSON.stringify(app.logged), /ERR_STREAM_PREMATURE_CLOSE/);
});
