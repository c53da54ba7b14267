// The page of a payment: what it says, and what may be done there.
import test from 'ava';
import { RegistryUnavailable } from '../../../src/clients/transaction-registry/answer.ts';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import type { RegistryAnswer } from '../../../src/events/payment-result.ts';
import { cause } from '../../audit/ledger.ts';
import { startApp } from '../../support/app.ts';
import { checkChain } from '../../support/chain.ts';
import { memberOf, signIn } from '../../support/console.ts';
import {
  applied,
  chosen,
  mismatched,
  refunded,
  requested,
  result,
  resultAt,
  sen,
  succeeded,
} from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { personal, poison } from './payment-pages.ts';
import { abandoned, paidTwice, startPopulated } from './populated.ts';

const postgres = await createDatabase();

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
    'callback-1 given up: answered 500 (attempt 1, 5 ms)',
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

test.serial(
  'a payment’s page has what was received in all once the rest of a part has been paid',
  async (t) => {
    const { app, payment } = await startPopulated(t, postgres);
    const member = await signIn(app, 'viewer');
    const credited = {
      type: 'AmountMismatchCredited',
      data: {
        at: resultAt,
        by: 'staff:A',
        resultNo: 1,
        note: '',
        amountSen: sen(2_050),
        effect: 'partlyPaid',
        paidSen: sen(2_050),
        paidAt: resultAt,
        receiptNo: '',
        postingRule: 3,
        merchantCode: 'council',
        deliveries: [],
      },
    } satisfies PaymentEvent;
    const part = [chosen(1), mismatched(result(1, 'succeeded', { amountSen: sen(2_050) })), credited];
    const rest = succeeded(result(2, 'succeeded', { amountSen: sen(10_050) }));
    const refund = refunded({ amountSen: sen(1_000) });
    const receivedOf = async (events: readonly PaymentEvent[], reference: string) => {
      const page = await (
        await member.get(`/console/payments/${await payment(events, { reference })}`)
      ).text();
      return /<dt>Received<\/dt><dd>([^<]*)/.exec(page)?.[1];
    };
    t.is(await receivedOf(part, 'PART-1'), 'RM 20.50');
    t.is(await receivedOf([...part, chosen(2, { chargeSen: sen(50) }), rest], 'PART-2'), 'RM 121.00');
    // What was returned of the part is paid with the rest.
    const more = succeeded(result(2, 'succeeded', { amountSen: sen(11_000) }));
    t.is(await receivedOf([...part, refund], 'PART-3'), 'RM 20.50');
    t.is(await receivedOf([...part, refund, chosen(2), more], 'PART-4'), 'RM 130.50');
  },
);

test.serial('a payment is shown as of a moment, without what came later and without actions', async (t) => {
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

test.serial('what needs the request of a payment says that it cannot be read', async (t) => {
  const { app } = await startPopulated(t, postgres);
  const admin = await signIn(app, 'admin');
  const unreadId = '7'.repeat(26);
  const newer = chain([{ type: 'PaymentAsked', data: {} }], genesisHash, cause());
  await app.eventStore.append(paymentStream(unreadId), newer, 'no_stream');
  const shown = await admin.get(`/console/payments/${unreadId}`);
  t.is(shown.status, 200);
  t.regex(
    await shown.text(),
    /Event 0 was not changed since it was written, but this program cannot read it/,
  );
  const [first, second] = chain([requested(), applied(result(1, 'pending'))], genesisHash, cause());
  if (!first || !second) throw new Error('not chained');
  const changed = [first, { ...second, metadata: { ...second.metadata, hash: genesisHash } }];
  const changedId = '6'.repeat(26);
  await app.eventStore.append(paymentStream(changedId), changed, 'no_stream');
  const shows = ['', '/events/:revision', '/history.json'];
  const needsHead = /^\/console\/exceptions|\/(notes|send-again)$/;
  for (const { forScope, method, path } of app.consoleRoutes) {
    if (forScope !== 'ofPayment' || shows.some((each) => path === `/console/payments/:id${each}`)) continue;
    for (const id of needsHead.test(path) ? [unreadId, changedId] : [unreadId]) {
      const form = { note: 'A note', delivery: 'callback-1' };
      const at = path.replace(':id', id).replace(':no', '1');
      const answer = await (method === 'get' ? admin.get(at) : admin.post(at, form));
      t.is(answer.status, 409, `${method} ${path}`);
      t.regex(await answer.text(), /This payment cannot be read/, path);
    }
  }
});

test.serial('what cannot be the id of a payment is found by no page or action', async (t) => {
  const app = await startApp();
  t.teardown(app.close);
  const admin = await signIn(app, 'admin');
  const ofPayment = app.consoleRoutes.filter(({ forScope }) => forScope === 'ofPayment');
  t.true(ofPayment.length > 10);
  for (const { method, path } of ofPayment) {
    const answer = await admin[method](path.replace(':id', 'X'.repeat(27)));
    t.is(answer.status, 404, `${method} ${path}`);
    t.regex(await answer.text(), /There is no payment with this id/);
  }
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
  const pasted = await member.post(`${path}/notes`, {
    ...first,
    note: 'RM 120.50\tpaid',
  });
  t.is(pasted.headers.get('location'), `${path}?notice=noted`, 'from a spreadsheet');
  checkChain(t, await app.eventStore.load(paymentStream(id)));
});

test.serial('a delivery is sent again for those who have the permission', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const member = await signIn(app, 'member');
  const id = await payment([chosen(1), succeeded(result(1, 'succeeded')), abandoned]);
  const page = await (await member.get(`/console/payments/${id}`)).text();
  t.regex(page, /Send again/);
  const viewer = await signIn(app, 'viewer');
  t.notRegex(await (await viewer.get(`/console/payments/${id}`)).text(), /Send again/);
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
