// Deliveries in the console: the list, and sending one or all of it again.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type PaymentEvent, paymentStream, readPaymentEvent } from '../../../src/events/payment.ts';

import { signIn } from '../../support/console.ts';
import { applied, chosen, result, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { abandoned, type Populated, startPopulated } from './populated.ts';

const postgres = await createDatabase();

const paid = [chosen(1), succeeded(result(1, 'succeeded'))];
const sendAll = '/console/deliveries/send-again';
const sendOne = (id: string) => `/console/payments/${id}/send-again`;

async function requestsFor({ app }: Populated, id: string): Promise<string[]> {
  const stored = await app.eventStore.load(paymentStream(id));
  return stored
    .map(readPaymentEvent)
    .filter(({ type }) => type === 'CallbackRequested' || type === 'ReceiptEmailRequested')
    .map(({ type }) => type);
}

test.serial('the list filters, counts and pages, and names stay text', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, payment } = populated;
  for (let count = 0; count < 51; count += 1) await payment(paid);
  const gone = await payment([...paid, abandoned], { merchant: { code: 'mu<b>', id: 8, name: 'M' } });
  await caughtUp();
  const viewer = await signIn(app, 'viewer');
  const page = async (path: string) => (await viewer.get(path)).text();
  const first = await page('/console/deliveries?kind=callback&day=2026-11-20');
  t.true(first.includes('52 in all'));
  const next = /href="([^"]+after=[^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await page(next);
  const rows = (html: string) =>
    Array.from(html.matchAll(/<tr>\s*<td[^>]*>.*?href="([^"]+)"/gs), ([, href]) => href);
  t.is(rows(first).length, 50);
  t.is(rows(second).length, 2);
  t.is(new Set([...rows(first), ...rows(second)]).size, 52);
  t.false(first.includes('Send again'), 'no button for a viewer');

  t.true((await page('/console/deliveries?merchant=7')).includes('merchant=council'), 'the agency id');
  const abandonedOnes = await page('/console/deliveries?state=abandoned&merchant=mu%3Cb%3E');
  t.true(
    abandonedOnes.includes('1 in all') &&
      abandonedOnes.includes(gone) &&
      abandonedOnes.includes('mu&lt;b&gt;'),
  );
  t.true((await page('/console/deliveries?receiver=%00')).includes('No delivery matches'));
  t.true(
    (await page('/console/deliveries?day=2026-11-19')).includes('No delivery matches'),
    'by the Malaysian day',
  );
  for (const query of ['?state=x', '?kind=x', '?day=x', '?after=1~x', '?after=x~y~z'])
    t.is((await viewer.get(`/console/deliveries${query}`)).status, 400, query);
});

test.serial(
  'a server that was down is found by its name, and told now what it would be told hours later',
  async (t) => {
    const populated = await startPopulated(t, postgres);
    const { app, caughtUp, payment } = populated;
    const failed = (nextAttemptAt: string): PaymentEvent => ({
      type: 'CallbackAttemptFailed',
      data: {
        at: '2026-11-20T02:00:00.000Z',
        delivery: 'callback-1',
        attempt: 1,
        durationMs: 5,
        status: null,
        reason: 'connection refused',
        nextAttemptAt,
      },
    });
    const waiting = await payment([...paid, failed('2099-11-20T02:00:00.000Z')]);
    const onItsWay = await payment([...paid, failed('2026-11-20T02:00:01.000Z')]);
    const late = await payment([
      ...paid,
      failed('2026-11-20T02:00:01.000Z'),
      {
        ...abandoned,
        data: { ...abandoned.data, attempt: 2, at: '2026-11-21T03:04:05.000Z' },
      } as PaymentEvent,
    ]);
    await caughtUp();
    const member = await signIn(app, 'member');
    const list = '/console/deliveries?kind=callback&receiver=Council.example';
    t.true((await member.read(list)).includes('3 in all'));
    t.false((await member.read(`${list}:8443`)).includes('in all'), 'another receiver');
    t.regex(
      await member.read(`${list}&state=abandoned`),
      /2026-11-21 11:04:05/,
      'the last attempt, not when it was due',
    );
    t.true((await member.read(`${list}&state=due`)).includes('/console/deliveries/send-again?state=due'));
    const fields = { state: 'due', receiver: 'council.example', count: '2' };
    const html = await (await member.post(sendAll, fields)).text();
    t.true(
      html.includes('<strong>1</strong> delivery is due again') &&
        html.includes('<strong>1</strong> was already due'),
      html,
    );
    t.deepEqual(await requestsFor(populated, waiting), ['CallbackRequested']);
    for (const id of [onItsWay, late]) t.deepEqual(await requestsFor(populated, id), []);
    t.regex(await member.read('/console/deliveries?payment=INV-1'), /has 26 letters and digits/);
  },
);

test.serial('what needs erased data is not offered, because it would be refused', async (t) => {
  const { app, caughtUp, payment } = await startPopulated(t, postgres);
  const erased: PaymentEvent = {
    type: 'PersonalDataErased',
    data: { at: '2026-11-20T02:00:00.000Z', keys: [], reason: 'requested' },
  };
  const tried = { at: erased.data.at, delivery: 'email', attempt: 1, durationMs: 5, reason: 'answered 550' };
  const id = await payment([...paid, abandoned, { type: 'ReceiptEmailAbandoned', data: tried }, erased]);
  await caughtUp();
  const member = await signIn(app, 'member');
  const page = await (await member.get('/console/deliveries?state=abandoned')).text();
  t.true(page.includes('2 in all') && page.includes('name="delivery" value="callback-1"'));
  t.false(page.includes('name="delivery" value="email"'));
  t.is((await member.post(sendOne(id), { delivery: 'email' })).status, 409);
});

test.serial('one delivery is sent again, once', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, payment } = populated;
  const id = await payment([...paid, abandoned]);
  await caughtUp();
  const member = await signIn(app, 'member');
  const back = '/console/deliveries?state=abandoned';
  t.true((await (await member.get(back)).text()).includes('Send again'));
  const fields = { delivery: 'callback-1', back };
  const answer = await member.post(sendOne(id), fields);
  t.is(answer.headers.get('location'), `${back}&notice=sent-again`);
  t.is((await member.post(sendOne(id), fields)).headers.get('location'), `${back}&notice=already-due`);
  t.deepEqual(await requestsFor(populated, id), ['CallbackRequested']);
  const asked = (await app.eventStore.load(paymentStream(id))).at(-1);
  t.is(Reflect.get(asked?.metadata ?? {}, 'actor'), `staff:${member.id}`);
  for (const elsewhere of ['https://elsewhere.example/', '//elsewhere.example', '/console/deliveriesx', ''])
    t.is(
      (await member.post(sendOne(id), { ...fields, back: elsewhere })).headers.get('location'),
      `/console/payments/${id}?notice=already-due`,
    );
  t.is((await member.post(sendOne('0'), fields)).status, 404);
  t.is((await member.post(sendOne(id), { ...fields, delivery: 'callback-9' })).status, 404);
  t.is((await member.post(sendOne('Z'.repeat(26)), fields)).status, 404);
});

test.serial('a whole list is sent again once its number was confirmed, without emails', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, payment } = populated;
  const emailGone = {
    type: 'ReceiptEmailAbandoned',
    data: { at: '2026-11-20T02:00:00.000Z', delivery: 'email', attempt: 1, durationMs: 1, reason: 'r' },
  } as const;
  const [one, two] = [await payment([...paid, abandoned, emailGone]), await payment([...paid, abandoned])];
  const other = await payment([...paid, abandoned], { callbackUrl: 'https://other.example/' });
  await caughtUp();
  const member = await signIn(app, 'member');
  const fields = { state: 'abandoned', receiver: 'https://council.example' };
  const confirmation = await (await member.get(`${sendAll}?${new URLSearchParams(fields)}`)).text();
  t.true(
    confirmation.includes('<strong>2</strong> deliveries again') &&
      confirmation.includes('name="count" value="2"'),
  );
  t.deepEqual(await requestsFor(populated, one), [], 'opening the page sends nothing');

  t.is(
    (await member.post(sendAll, { ...fields, count: '1' })).status,
    409,
    'more than the number that was confirmed',
  );
  t.is((await member.post(sendAll, fields)).status, 409, 'no number was confirmed');
  t.deepEqual(await requestsFor(populated, one), []);
  // One has been delivered since.
  const answer = await member.post(sendAll, { ...fields, count: '3' });
  t.is(answer.status, 200);
  t.true((await answer.text()).includes('<strong>2</strong> deliveries are due again'));
  for (const id of [one, two]) t.deepEqual(await requestsFor(populated, id), ['CallbackRequested']);
  t.deepEqual(await requestsFor(populated, other), []);
  await caughtUp();
  t.is((await member.post(sendAll, { ...fields, count: '2' })).status, 409, 'the form sent twice');

  const emails = { state: 'abandoned', kind: 'email', count: '1' };
  t.is((await member.post(sendAll, emails)).status, 200);
  t.deepEqual(await requestsFor(populated, one), ['CallbackRequested', 'ReceiptEmailRequested']);

  for (const query of ['', '?state=superseded'])
    t.is((await member.get(`${sendAll}${query}`)).status, 400, 'what cannot be sent again');
  const viewer = await signIn(app, 'viewer');
  t.is((await viewer.get(`${sendAll}?state=abandoned`)).status, 403);
  t.is((await viewer.post(sendAll, { ...fields, count: '0' })).status, 403);
  t.is((await viewer.post(sendOne(two), { delivery: 'callback-1' })).status, 403);
  t.is((await member.post(sendAll, { ...fields, count: '0', token: 'x' })).status, 403);
});

test.serial('a refusal does not keep the others from being sent', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, db, payment } = populated;
  const id = await payment([...paid, abandoned]);
  const overtaken = await payment([chosen(1), applied(result(1, 'pending')), abandoned]);
  await caughtUp();
  // A row whose payment does not exist.
  const [row] = await db('reactor_deliveries.deliveries').where('transaction_id', id);
  await db('reactor_deliveries.deliveries').insert({
    ...row,
    transaction_id: 'Y'.repeat(26),
    ordering_key: 'callback',
  });
  const member = await signIn(app, 'member');
  const answer = await member.post(sendAll, { state: 'abandoned', count: '3' });
  const html = await answer.text();
  t.true(html.includes('<strong>2</strong> deliveries are due again'), html);
  t.true(html.includes('<strong>1</strong> could not') && html.includes('Payment not found'));
  t.deepEqual(await requestsFor(populated, overtaken), ['CallbackRequested']);
});

test.serial('a payment that cannot be read does not keep the others from being sent', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, payment } = populated;
  const [broken, whole] = [await payment([...paid, abandoned]), await payment([...paid, abandoned])];
  await caughtUp();
  const newer = { id: randomUUID(), type: 'PaymentForgiven', data: {}, metadata: { schemaVersion: 9 } };
  await app.eventStore.append(paymentStream(broken), [newer], 3);
  const member = await signIn(app, 'member');
  const html = await (await member.post(sendAll, { state: 'abandoned', count: '2' })).text();
  t.true(html.includes('<strong>1</strong> delivery is due again'), html);
  t.true(html.includes('<strong>1</strong> could not') && html.includes('Its events cannot be read'));
  t.deepEqual(await requestsFor(populated, whole), ['CallbackRequested']);
});

test.serial('when Postgres is down the pages say so', async (t) => {
  const { app, db } = await startPopulated(t, await createDatabase());
  const admin = await signIn(app, 'admin');
  await db.destroy();
  for (const path of [
    '/console',
    '/console/exceptions',
    '/console/deliveries',
    `${sendAll}?state=abandoned`,
  ]) {
    const answer = await admin.get(path);
    t.is(answer.status, 503, path);
    t.true((await answer.text()).includes('The read models do not answer'));
  }
  t.true(app.logged.some(({ msg }) => msg === 'the read models do not answer'));
});
