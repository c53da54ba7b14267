// Exceptions in the console: the list, one of each kind, and how staff resolve them.
import { randomUUID } from 'node:crypto';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import test from 'ava';
import { transactionIdOf } from '../../../src/commands/transaction-id.ts';
import { type PaymentEvent, paymentStream, readPaymentEvent } from '../../../src/events/payment.ts';
import { projectionStream } from '../../../src/events/projection-requests.ts';
import { resolutionStream, unmatchedFold } from '../../../src/events/unmatched.ts';
import { journal } from '../../../src/projections/journal/projection.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { startRequests } from '../../../src/reactors/projection-requests/watch.ts';
import { createDeliveryList, deliveryList } from '../../../src/to-do/delivery-list.ts';
import { patienceMs, until } from '../../embedded/helpers.ts';
import { knowing, log } from '../../projections/helpers.ts';
import { startApp, transactionIdKey } from '../../support/app.ts';
import { checkChain } from '../../support/chain.ts';
import { memberOf, signIn, signInAll } from '../../support/console.ts';
import { applied, chosen, contradicted, mismatched, result, sen, succeeded } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { onlyUnmatchedPath, quarantined } from '../../support/quarantine.ts';
import { postRequest, postResult, requestBody, resultFields, signed } from '../generic/helpers.ts';
import { paidTwice, startPopulated } from './populated.ts';

const postgres = await createDatabase();

const hostile = '<script>alert(1)</script> & "Ö\u202e"';
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);
const refund = { resolution: 'refunded', note: 'Bank reference R-1' };

test.serial(
  'the list shows what is open, filters it, and leads to each; hostile names stay text',
  async (t) => {
    const { app, caughtUp, payment } = await startPopulated(t, postgres);
    const twice = await payment(paidTwice, { merchant: { code: 'mu<b>', id: 8, name: hostile } });
    const wrong = await payment([
      chosen(1),
      mismatched(result(1, 'succeeded', { amountSen: sen(1), gatewayTransactionId: hostile })),
    ]);
    const late = await payment([
      chosen(1),
      applied(result(1, 'failed')),
      succeeded(result(1, 'succeeded'), { late: true }),
    ]);
    const clash = await payment([
      chosen(1),
      succeeded(result(1, 'succeeded')),
      contradicted(result(1, 'failed'), 'succeeded'),
    ]);
    await postResult(app, signed(resultFields('0'.repeat(26))));
    await caughtUp();
    const viewer = await signIn(app, 'viewer');
    const listed = async (query: string) => {
      const html = await viewer.read(`/console/exceptions${query}`);
      t.false(html.includes('<b>'), 'names are text');
      return Array.from(
        html.matchAll(/href="\/console\/exceptions\/([^"?]+)"/g),
        ([, id = '']) => id,
      ).toSorted();
    };
    const all = [
      `payment/${twice}/2`,
      `payment/${wrong}/1`,
      `payment/${late}/2`,
      `payment/${clash}/2`,
      await onlyUnmatchedPath(app.eventStore),
    ].toSorted();
    t.deepEqual(await listed(''), all);
    t.deepEqual(await listed('?state=resolved'), []);
    t.deepEqual(await listed('?kind=duplicate'), [`payment/${twice}/2`]);
    t.deepEqual(await listed('?merchant=mu%3Cb%3E'), [`payment/${twice}/2`]);
    const ofCouncil = await listed('?merchant=council');
    t.true(ofCouncil.includes(`payment/${late}/2`));
    t.deepEqual(await listed('?merchant=7'), ofCouncil, 'the agency id');
    t.deepEqual(await listed('?merchant=%00'), []);
    t.deepEqual(await listed('?day=2026-11-20&kind=lateSuccess'), [`payment/${late}/2`]);
    t.deepEqual(await listed('?day=2026-11-19'), []);
    for (const query of ['?kind=x', '?state=x', '?day=2026-02-30', '?after=x', '?after=1~%00'])
      t.is((await viewer.get(`/console/exceptions${query}`)).status, 400, query);

    for (const id of all) {
      const page = await viewer.get(`/console/exceptions/${id}`);
      const html = await page.text();
      t.is(page.status, 200, id);
      t.false(html.includes('<script>alert'), id);
      t.false(html.includes('AMINAH'), 'personal data is not on this page');
      t.false(html.includes('name="resolution"'), 'no form without the permission');
      t.true(html.includes('An administrator resolves it'));
    }
    const mismatch = await viewer.read(`/console/exceptions/payment/${wrong}/1`);
    t.true(mismatch.includes('RM 120.50') && mismatch.includes('RM 0.01'), 'expected and reported');
    t.regex(mismatch, /Current status<\/dt><dd>[\s\S]{0,300}?Wrong amount/, 'not "Awaiting payment"');
    const [, evidence = ''] = /href="(\/console\/payments\/[^"]+\/events\/\d+)"/.exec(mismatch) ?? [];
    t.true((await viewer.read(evidence)).includes('AmountMismatchDetected'));
    for (const id of [
      'payment/x/1',
      `payment/${twice}/1`,
      `payment/${twice}/9`,
      `payment/${twice}/2x`,
      'unmatched/1',
      'unmatched/x',
      'unmatched/01',
    ])
      t.is((await viewer.get(`/console/exceptions/${id}`)).status, 404, id);
  },
);

test.serial('a resolution is recorded once with its author, and later ones are refused', async (t) => {
  const { app, caughtUp, payment } = await startPopulated(t, postgres);
  const id = await payment(paidTwice);
  const path = `/console/exceptions/payment/${id}/2`;
  const [admin, other] = await signInAll(app, 'admin', 'admin');
  t.true((await admin.read(path)).includes('name="resolution"'));
  const answers = await Promise.all([
    admin.post(path, refund),
    other.post(path, { ...refund, resolution: 'credited' }),
  ]);
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 409]);
  const [won, lost] = answers[0].status === 303 ? [admin, answers[1]] : [other, answers[0]];
  t.true((await lost.text()).includes('This exception is already resolved'));

  const stored = await app.eventStore.load(paymentStream(id));
  checkChain(t, stored);
  const resolutions = stored.filter(({ type }) => type === 'ExceptionResolved');
  t.is(resolutions.length, 1);
  t.is(Reflect.get(resolutions[0]?.metadata ?? {}, 'actor'), `staff:${won.id}`);
  // Sent twice, it is the same.
  const said = resolutions[0] && readPaymentEvent(resolutions[0]).data;
  const again = { resolution: String(Reflect.get(said ?? {}, 'resolution')), note: refund.note };
  t.is((await won.post(path, again)).status, 303);
  t.is((await app.eventStore.load(paymentStream(id))).length, stored.length);

  await caughtUp();
  t.false((await admin.read('/console/exceptions')).includes(id));
  const resolved = await admin.read('/console/exceptions?state=resolved');
  t.true(resolved.includes(id));
  const [first] = stored;
  t.true(resolved.includes(`<bdi>${Reflect.get(Object(first?.data), 'reference')}</bdi>`));
  const page = await admin.read(path);
  t.true(page.includes(refund.note) && page.includes('Staff, admin') && !page.includes('name="resolution"'));
});

test.serial(
  'money in another currency is no ringgit: it has its own name, and no part in the sum',
  async (t) => {
    const { app, caughtUp, payment } = await startPopulated(t, postgres);
    const dollars = result(1, 'succeeded', { currency: 'usd' });
    const id = await payment([chosen(1), mismatched(dollars)]);
    await payment(paidTwice);
    await caughtUp();
    const viewer = await signIn(app, 'viewer');
    const list = await viewer.read('/console/exceptions');
    t.regex(list, /2 in all, RM 120\.50/);
    t.is((list.match(/RM 120\.50<\/td>/g) ?? []).length, 1);
    t.regex(await viewer.read(`/console/exceptions/payment/${id}/1`), /<dd>usd 120\.50<\/dd>/);
  },
);

test.serial('a missing permission, a foreign form and an invalid resolution change nothing', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const id = await payment([...paidTwice, contradicted(result(1, 'failed'), 'succeeded')]);
  await postResult(app, signed(resultFields('0'.repeat(26))));
  const admin = await signIn(app, 'admin');
  const unmatchedPath = await onlyUnmatchedPath(app.eventStore);
  const paths = [`/console/exceptions/payment/${id}/2`, `/console/exceptions/${unmatchedPath}`];
  const before = await app.eventStore.head();
  for (const path of paths) {
    for (const fields of [
      { ...refund, note: '' },
      { ...refund, note: ' \r\n ' },
      { ...refund, note: 'x'.repeat(1_001) },
      { ...refund, note: 'NUL \0' },
      { ...refund, note: 'escape \u001b[31m' },
      { ...refund, note: 'turned \u202e' },
      { ...refund, resolution: 'paid' },
      { ...refund, resolution: '' },
      { note: 'no choice' },
    ]) {
      const answer = await admin.post(path, fields);
      t.is(answer.status, 400, JSON.stringify(fields));
      const html = await answer.text();
      t.true(html.includes('role="alert"') && html.includes('name="resolution"'), 'the form again');
    }
    t.is((await admin.post(path, { ...refund, token: 'x' })).status, 403, 'no token of the session');
    t.is((await admin.post(path, refund, { origin: 'https://elsewhere.example' })).status, 403);
    t.is((await fetch(`${app.url}${path}`, { method: 'POST', redirect: 'manual' })).status, 303, 'nobody');
  }
  t.is((await admin.post(`/console/exceptions/payment/${id}/3`, refund)).status, 400, 'no money in suspense');
  t.is((await admin.post(`/console/exceptions/payment/${id}/1`, refund)).status, 404, 'no exception');
  t.is((await admin.post('/console/exceptions/unmatched/1', refund)).status, 404);
  t.deepEqual(await app.eventStore.head(), before);
  for (const role of ['member', 'viewer'] as const) {
    const staff = await signIn(app, role);
    for (const path of paths) t.is((await staff.post(path, refund)).status, 403, `${role} ${path}`);
  }
  t.is((await app.eventStore.load(paymentStream(id))).length, 5);
  t.deepEqual(await app.eventStore.load(resolutionStream(unmatchedPath.slice('unmatched/'.length))), []);
});

test.serial(
  'a note of several lines, in any script and with mark-up, is shown as it was typed',
  async (t) => {
    const { app, payment } = await startPopulated(t, postgres);
    const id = await payment(paidTwice);
    const admin = await signIn(app, 'admin');
    const path = `/console/exceptions/payment/${id}/2`;
    const note = ' <b onclick="x">முத்து</b>\r\nmoney back & gone \u{1f600} ';
    const answer = await admin.post(path, { ...refund, note });
    t.is(answer.headers.get('location'), `${path}?notice=resolved`);
    const html = await admin.read(path);
    t.true(html.includes('&lt;b onclick=&quot;x&quot;&gt;முத்து&lt;/b&gt;\nmoney back &amp; gone \u{1f600}<'));
  },
);

test.serial(
  'an unmatched result: access to its evidence is recorded, and its resolution makes no payment',
  async (t) => {
    const { app, caughtUp } = await startPopulated(t, postgres);
    const transactionId = '0'.repeat(26);
    await postResult(app, signed(resultFields(transactionId, { BUYER_NAME: hostile })));
    const admin = await signIn(app, 'admin');
    const [stored] = await quarantined(app.eventStore);
    const unmatchedPath = await onlyUnmatchedPath(app.eventStore);
    const path = `/console/exceptions/${unmatchedPath}`;
    const accesses = async () => {
      const streams = [];
      for await (const message of app.eventStore.subscribe({
        streamPrefixes: ['session-'],
        after: null,
        signal: AbortSignal.timeout(patienceMs),
      })) {
        if (message.kind === 'caught_up') break;
        if (message.kind === 'event' && message.event.type === 'PersonalDataViewed')
          streams.push(message.event);
      }
      return streams;
    };
    t.false((await admin.read(path)).includes('BUYER_NAME'));
    t.is((await accesses()).length, 0);
    const evidence = await admin.read(`${path}/evidence`);
    t.true(
      evidence.includes('BUYER_NAME') &&
        evidence.includes('&lt;script&gt;') &&
        !evidence.includes('<script>alert'),
    );
    const [access, ...more] = await accesses();
    t.is(more.length, 0);
    t.like(access?.data, {
      userId: admin.id,
      what: 'evidence',
      transactionId: null,
      detail: `${stored?.streamName} 0`,
    });

    const settled = { resolution: 'settled', note: 'Paid by hand' };
    t.regex(await (await admin.post(path, { ...settled, confirmed: '' })).text(), /Nothing is posted/);
    t.is((await admin.post(path, settled)).status, 303);
    t.is((await admin.post(path, { resolution: 'explained', note: 'No' })).status, 409);
    const [said, ...others] = await app.eventStore.load(
      resolutionStream(unmatchedPath.slice('unmatched/'.length)),
    );
    t.is(others.length, 0);
    t.like(said && unmatchedFold.read(said).data, {
      revision: 0,
      resolution: 'settled',
      note: 'Paid by hand',
    });
    t.deepEqual(await app.events(transactionId), []);
    t.is((await quarantined(app.eventStore)).length, 1);
    await caughtUp();
    t.true((await admin.read('/console/exceptions?state=resolved')).includes('Settled'));
  },
);

test.serial('a result that was set apart is recorded at its payment once that exists', async (t) => {
  const { app } = await startPopulated(t, postgres);
  const admin = await signIn(app, 'admin');
  const id = transactionIdOf(transactionIdKey, 'generic', 'council', 'LATE-1');
  // The gateway may name the merchant by the id of the agency.
  t.is((await postResult(app, signed(resultFields(id, { MERCHANT_CODE: '7' })))).status, 404);
  const path = `/console/exceptions/${await onlyUnmatchedPath(app.eventStore)}`;
  t.true((await admin.read(path)).includes('Record it at its payment'));
  const early = await admin.post(`${path}/record`);
  t.is(early.status, 409);
  t.regex(await early.text(), /There is still no payment to which this result belongs/);

  await postRequest(app, requestBody({ trans_id: 'LATE-1' }));
  t.is((await admin.post(`${path}/record`)).status, 303);
  const events = await app.events(id);
  t.deepEqual(typesOf(events), ['PaymentRequested', 'PaymentSucceeded']);
  checkChain(t, await app.eventStore.load(paymentStream(id)));
  t.regex(await admin.read(path), /Recorded at its payment/);
  t.is((await admin.post(`${path}/record`)).status, 409, 'it is resolved');
  t.is((await app.events(id)).length, 2);
});

test.serial(
  'who records a result that is resolved in the same moment is told that both happened',
  async (t) => {
    const first = await startApp();
    t.teardown(() => first.close());
    const [one, other] = await signInAll(first, 'admin', 'admin');
    const id = transactionIdOf(transactionIdKey, 'generic', 'council', 'LATE-2');
    await postResult(first, signed(resultFields(id)));
    await postRequest(first, requestBody({ trans_id: 'LATE-2' }));
    const path = `/console/exceptions/${await onlyUnmatchedPath(first.eventStore)}`;
    const append: EventStore['append'] = async (stream, ...rest) => {
      if (stream === paymentStream(id)) t.is((await other.post(path, refund)).status, 303);
      return await first.eventStore.append(stream, ...rest);
    };
    const second = await startApp({ eventStore: { append } }, first);
    t.teardown(() => second.close());
    const member = memberOf(second.url, one.id, one.cookie);
    const answer = await member.post(`${path}/record`);
    t.is(answer.status, 409);
    t.regex(
      await answer.text(),
      /It is recorded at its payment, but somebody else has resolved it differently/,
    );
    t.is((await first.events(id)).at(-1)?.type, 'PaymentSucceeded');
  },
);

test.serial('who records a result is told so where only its resolution cannot be read', async (t) => {
  const first = await startApp();
  t.teardown(() => first.close());
  const { id: session, cookie } = await signIn(first, 'admin');
  const id = transactionIdOf(transactionIdKey, 'generic', 'council', 'LATE-3');
  await postResult(first, signed(resultFields(id)));
  await postRequest(first, requestBody({ trans_id: 'LATE-3' }));
  const path = await onlyUnmatchedPath(first.eventStore);
  const append: EventStore['append'] = async (stream, ...rest) => {
    const newer = { id: randomUUID(), type: 'UnmatchedForgiven', data: {}, metadata: { schemaVersion: 9 } };
    const resolution = resolutionStream(path.slice('unmatched/'.length));
    if (stream === paymentStream(id)) await first.eventStore.append(resolution, [newer], 'no_stream');
    return await first.eventStore.append(stream, ...rest);
  };
  const second = await startApp({ eventStore: { append } }, first);
  t.teardown(() => second.close());
  const answer = await memberOf(second.url, session, cookie).post(`/console/exceptions/${path}/record`);
  t.is(answer.status, 409);
  t.regex(
    await answer.text(),
    /It is recorded at its payment, but the events of its resolution cannot be read/,
  );
  t.is((await first.events(id)).at(-1)?.type, 'PaymentSucceeded');
});

test.serial('a result of a payment that cannot be read waits until it can', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const admin = await signIn(app, 'admin');
  const id = await payment([chosen(1)]);
  const newer = { id: randomUUID(), type: 'PaymentForgiven', data: {}, metadata: { schemaVersion: 9 } };
  await app.eventStore.append(paymentStream(id), [newer], 1);
  t.is((await postResult(app, signed(resultFields(id)))).status, 303, 'acknowledged');
  const path = `/console/exceptions/${await onlyUnmatchedPath(app.eventStore)}`;
  const refused = await admin.post(`${path}/record`);
  t.is(refused.status, 409);
  t.regex(await refused.text(), /The events of its payment still cannot be read/);
});

test.serial(
  'a gateway transaction of two payments is listed, and an administrator explains it',
  async (t) => {
    const { app, caughtUp, payment } = await startPopulated(t, postgres);
    const paid = [
      chosen(1),
      succeeded(result(1, 'succeeded', { gatewayTransactionId: hostile }), { receiptNo: 'R-1' }),
    ];
    const first = await payment(paid, { sharesNumbers: true });
    const second = await payment(
      [chosen(1), succeeded(result(1, 'succeeded', { gatewayTransactionId: hostile }), { receiptNo: 'R-2' })],
      { sharesNumbers: true },
    );
    await caughtUp();
    const admin = await signIn(app, 'admin');
    const list = await admin.read('/console/exceptions?kind=sharedGatewayTransaction');
    const [path = ''] = /\/console\/exceptions\/shared\/[0-9A-Z]{26}/.exec(list) ?? [];
    const html = await admin.read(path);
    t.true(html.includes(`/console/payments/${first}`) && html.includes(`/console/payments/${second}`));
    t.false(html.includes('<script>alert'));
    t.is((await admin.post(path, { resolution: 'refunded', note: 'n' })).status, 400);
    t.is(
      (await admin.post(path, { resolution: 'explained', note: 'Two charges, numbered alike' })).status,
      303,
    );
    t.is((await admin.post(path, { resolution: 'explained', note: 'Another note' })).status, 409);
    await caughtUp();
    t.false((await admin.read('/console/exceptions')).includes(path));
    t.true((await admin.read(path)).includes('Two charges, numbered alike'));
    t.is((await admin.get(`/console/exceptions/shared/${'0'.repeat(26)}`)).status, 404);
  },
);

test.serial('staff settle an attempt whose outcome nobody knows by a verdict and its evidence', async (t) => {
  const { app, caughtUp, payment } = await startPopulated(t, postgres);
  const unknown = (attempt: number, id: string): PaymentEvent => ({
    type: 'AttemptOutcomeUnknown',
    data: { at: '2026-11-21T02:00:00.000Z', orderNo: `${id}-${attempt}` },
  });
  const id = '1'.padStart(26, '0');
  const order = { sellerOrderNo: `${id}-1` };
  t.is(await payment([chosen(1, { ...order, chargeSen: sen(150) }), unknown(1, id)]), id);
  await caughtUp();
  const [admin, viewer] = await signInAll(app, 'admin', 'viewer');
  const path = `/console/exceptions/attempt/${id}/1`;
  t.true((await admin.read('/console/exceptions?kind=outcomeUnknown')).includes(`href="${path}"`));
  t.true((await admin.read(`/console/payments/${id}`)).includes(`href="${path}"`));
  const html = await admin.read(path);
  t.true(html.includes('Outcome unknown') && html.includes('value="122.00"'), 'with the fee');
  t.false(html.includes('do not name the payer'), 'its evidence is sealed, and may');
  const other = await payment(paidTwice);
  for (const plain of [`exceptions/payment/${other}/2`, `payments/${other}/refund`])
    t.true((await admin.read(`/console/${plain}`)).includes('do not name the payer'), plain);
  t.false((await viewer.read(path)).includes('name="resolution"'));

  const verdict = {
    resolution: 'succeeded',
    note: 'Bank statement, line 7: AMINAH',
    amount: '122.00',
    gatewayTransactionId: 'P-77',
  };
  t.is((await viewer.post(path, verdict)).status, 403);
  for (const wrong of [
    { amount: '' },
    { amount: '12,50' },
    { amount: '0.00' },
    { gatewayTransactionId: 'a b' },
    { note: '' },
    { resolution: 'refunded' },
  ]) {
    const answer = await admin.post(path, { ...verdict, ...wrong });
    t.is(answer.status, 400, JSON.stringify(wrong));
    t.true((await answer.text()).includes('role="alert"'));
  }
  const free = await admin.post(path, { ...verdict, amount: '0.00' });
  t.regex(await free.text(), /an amount of more than 0\.00/);
  for (const gone of [`attempt/${id}/2`, `attempt/${id}/x`, 'attempt/x/1'])
    t.is((await admin.get(`/console/exceptions/${gone}`)).status, 404, gone);
  t.is((await app.eventStore.load(paymentStream(id))).length, 3);

  t.is((await admin.post(path, verdict)).status, 303);
  const [paid] = (await app.events(id)).slice(3);
  t.like(paid, {
    type: 'PaymentSucceeded',
    data: { source: 'staff', result: { amountSen: 12_200, gatewayTransactionId: 'P-77' } },
  });
  const stored = await app.eventStore.load(paymentStream(id));
  checkChain(t, stored);
  t.is(Reflect.get(stored[3]?.metadata ?? {}, 'actor'), `staff:${admin.id}`);
  t.false(JSON.stringify(stored.map(({ data }) => data)).includes('AMINAH'), 'the evidence is sealed');
  t.is((await admin.post(path, { ...verdict, resolution: 'failed' })).status, 409);
  await caughtUp();
  t.false((await admin.read('/console/exceptions')).includes(path));
  t.true((await admin.read('/console/exceptions?state=resolved')).includes('Charged'));
  const settled = await admin.read(path);
  t.true(settled.includes('Staff, admin') && settled.includes('/events/3') && !settled.includes('AMINAH'));
});

test.serial(
  'a refund is recorded once, and never for more than was paid; hostile references stay text',
  async (t) => {
    const { app, payment } = await startPopulated(t, postgres);
    const id = await payment([chosen(1), succeeded(result(1, 'succeeded'))]);
    const [admin, other, member] = await signInAll(app, 'admin', 'admin', 'member');
    const path = `/console/payments/${id}/refund`;
    t.true((await admin.read(`/console/payments/${id}`)).includes(`href="${path}"`));
    t.false((await member.read(`/console/payments/${id}`)).includes(`href="${path}"`));
    t.is((await member.get(path)).status, 403);
    const form = { chargeNo: '1', amount: '100.00', gatewayReference: 'RF <b>1</b>', reason: 'Wrong lot' };
    t.is((await member.post(path, form)).status, 403);
    for (const wrong of [
      { amount: '' },
      { amount: '0.00' },
      { amount: '-1.00' },
      { amount: '1e3' },
      { amount: '120.505' },
      { chargeNo: '' },
      { gatewayReference: ' ' },
      { gatewayReference: 'x'.repeat(101) },
      { gatewayReference: 'RF\u202e' },
      { reason: '' },
    ]) {
      const answer = await admin.post(path, { ...form, ...wrong });
      t.is(answer.status, 400, JSON.stringify(wrong));
      t.true((await answer.text()).includes('role="alert"'));
    }
    for (const refused of [{ amount: '120.51' }, { amount: '999999999.99' }, { chargeNo: '2' }])
      t.is((await admin.post(path, { ...form, ...refused })).status, 409, JSON.stringify(refused));
    const asked = await admin.post(path, { ...form, confirmed: '' });
    const question = await asked.text();
    t.is(asked.status, 200);
    for (const line of [
      'merchant:council',
      'gateway:fpx',
      'RM 100.00',
      'RF &lt;b&gt;1&lt;/b&gt;',
      'Wrong lot',
    ])
      t.true(question.includes(line), line);
    t.regex(question, /<dd[^>]*>100\.00<\/dd>[\s\S]*<dd[^>]*>RF &lt;b&gt;1&lt;\/b&gt;<\/dd>/);
    t.regex(question, /name="confirmed" value="no">Back to the form</);
    const again = await (await admin.post(path, { ...form, confirmed: 'no' })).text();
    t.regex(again, /value="RF &lt;b&gt;1&lt;\/b&gt;"[\s\S]*>Wrong lot<\/textarea>/, 'what was typed');
    t.is((await app.eventStore.load(paymentStream(id))).length, 3, 'nothing is recorded yet');
    t.is((await admin.post(path, { ...form, chargeNo: '2', confirmed: '' })).status, 409);
    // Two people at the same moment, of whom only one can have the money that is left.
    const answers = await Promise.all([
      admin.post(path, form),
      other.post(path, { ...form, gatewayReference: 'RF-2' }),
    ]);
    t.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 409]);
    const [won, own] =
      answers[0].status === 303 ? [admin, form] : [other, { ...form, gatewayReference: 'RF-2' }];
    t.is((await won.post(path, own)).status, 303, 'the same form again');
    const stored = await app.eventStore.load(paymentStream(id));
    checkChain(t, stored);
    t.deepEqual(typesOf(stored.slice(3)), ['PaymentRefunded']);
    t.like(stored.at(-1)?.data, { by: `staff:${won.id}`, amountSen: 10_000 });
    t.is((await admin.post(path, { ...form, amount: '20.50', gatewayReference: '<i>RF-3</i>' })).status, 303);
    const page = await admin.read(`/console/payments/${id}`);
    t.true(page.includes('RM 20.50') && page.includes('&lt;i&gt;RF-3') && !page.includes('<i>RF-3'));
    t.true((await admin.read(path)).includes('There is nothing to refund'));
    t.is((await admin.get(`/console/payments/${'0'.repeat(26)}/refund`)).status, 404);
  },
);

test.serial('above the limit a second administrator decides, and whoever proposed it cannot', async (t) => {
  const { app, caughtUp, payment } = await startPopulated(t, postgres, {
    config: { approvalAboveSen: sen(5_000) },
  });
  const id = await payment([
    chosen(1, { chargeSen: sen(50) }),
    mismatched(result(1, 'succeeded', { amountSen: sen(12_000) })),
  ]);
  const [admin, other, viewer] = await signInAll(app, 'admin', 'admin', 'viewer');
  const path = `/console/exceptions/payment/${id}/1`;
  const credit = { resolution: 'credited', note: 'The council <b>accepts</b> it' };
  t.regex(await (await admin.post(path, { ...credit, confirmed: '' })).text(), /records your proposal/);
  const answer = await admin.post(path, credit);
  t.is(answer.headers.get('location'), `${path}?notice=approval-requested`);
  for (const again of [admin, other])
    t.is((await again.post(path, credit)).headers.get('location'), `${path}?notice=approval-requested`);
  await caughtUp();
  const approval = `/console/exceptions/approval/${id}/1`;
  const list = await viewer.read('/console/exceptions?kind=approval');
  t.true(list.includes(`href="${approval}"`) && list.includes('RM 120.00'));
  t.true((await admin.read(path)).includes(`href="${approval}"`), 'and no second form');
  const own = await admin.read(approval);
  t.true(own.includes('somebody else has to approve') && own.includes('&lt;b&gt;accepts'));
  t.false(own.includes('value="granted"'));
  const granted = { resolution: 'granted', note: 'Seen the letter' };
  t.is((await admin.post(approval, granted)).status, 400, 'it is not among the choices');
  t.is((await viewer.post(approval, granted)).status, 403);
  t.is((await other.post(path, { ...credit, note: 'Another' })).status, 409);
  for (const gone of [`approval/${id}/2`, `approval/${id}/x`, 'approval/x/1'])
    t.is((await other.get(`/console/exceptions/${gone}`)).status, 404, gone);
  t.is((await app.events(id)).length, 4, 'nothing but the proposal');

  const paid = await payment([chosen(1), succeeded(result(1, 'succeeded'))]);
  const refund = { chargeNo: '1', amount: '60.00', gatewayReference: 'RF-1', reason: 'Wrong lot' };
  for (const each of [admin, admin, other]) {
    const { headers } = await each.post(`/console/payments/${paid}/refund`, refund);
    t.is(headers.get('location'), `/console/payments/${paid}?notice=approval-requested`);
  }

  const decided = await Promise.all([
    other.post(approval, granted),
    admin.post(approval, { resolution: 'rejected', note: 'Withdrawn' }),
  ]);
  t.deepEqual(decided.map(({ status }) => status).toSorted(), [303, 409]);
  if (decided[0].status !== 303) return t.pass('withdrawn first');
  const events = (await app.events(id)).slice(4);
  t.deepEqual(typesOf(events), ['ApprovalGranted', 'AmountMismatchCredited']);
  t.like(events, [
    { data: { by: `staff:${other.id}` } },
    { data: { by: `staff:${admin.id}`, effect: 'paid' } },
  ]);
  checkChain(t, await app.eventStore.load(paymentStream(id)));
  await caughtUp();
  t.false((await admin.read('/console/exceptions')).includes(id));
  const receipt = await (await fetch(`${app.url}/generic/receipt/${id}?lang=en`)).text();
  t.true(receipt.includes('Official receipt') && receipt.includes('RM 120.00'));
  t.true(receipt.includes('The amount asked for was RM\u00a0120.50'));
  t.false((await admin.read(`/console/payments/${id}`)).includes('<dt>Fee</dt>'), 'credited without a fee');
});

test.serial('a parked stream is an exception, and administrators have it tried again', async (t) => {
  const { app, caughtUp, db, payment } = await startPopulated(t, postgres, {
    content: { projections: [payments, journal, deliveryList] },
  });
  const id = await payment([{ type: 'PaymentTele\0ported', data: {} } as unknown as PaymentEvent, chosen(1)]);
  await payment(paidTwice);
  await caughtUp();
  const [admin, viewer] = await signInAll(app, 'admin', 'viewer');
  const path = `/console/exceptions/parked/payment-${id}`;
  const list = await viewer.read('/console/exceptions?kind=parked');
  t.true(list.includes(`href="${path}"`));

  const page = await viewer.read(path);
  for (const name of ['payments', 'journal']) t.true(page.includes(`<th scope="row">${name}</th>`));
  t.regex(page, /Unknown event type PaymentTele\ufffdported/);
  t.false(page.includes('Try again</button>'));
  t.is((await viewer.post(`${path}/retry`)).status, 403);
  t.is((await viewer.get('/console/exceptions/parked/payment-none')).status, 404);

  // No role answers yet.
  const waits = await admin.post(`${path}/retry`);
  t.is(waits.headers.get('location'), `${path}?notice=retry-requested`);
  const waiting = await admin.read(path);
  t.true(waiting.includes('will be tried again as soon as') && !waiting.includes('Try again</button>'));
  const { eventStore } = app;
  const stores = { db, eventStore, log, personalData, runtime: systemRuntime };
  const deliveries = createDeliveryList({ eventStore });
  const role = startRequests({ ...stores, projections: [payments, journal, deliveries] });
  t.teardown(role.stop);
  await until(async () => (await admin.read(path)).includes('Try again</button>'));
  const still = await admin.post(`${path}/retry`);
  t.is(still.headers.get('location'), `${path}?notice=still-parked`);
  await role.stop();
  const mended = (projection: Projection) => knowing(projection, 'PaymentTele\0ported', chosen(1));
  const newer = startRequests({ ...stores, projections: [payments, journal, deliveries].map(mended) });
  t.teardown(newer.stop);
  const done = await admin.post(`${path}/retry`);
  t.is(done.headers.get('location'), '/console/exceptions?notice=unparked');
  // Others may give a stream any name.
  const foreign = { stream: 'user-a/b?c', revision: 0, type: 'T', message: 'No', parkedAt: '2026-11-20' };
  await db.raw(`update checkpoints set parked = ? where name = 'unmatched'`, [JSON.stringify([foreign])]);
  const strange = '/console/exceptions/parked/user-a%2Fb%3Fc';
  t.true((await viewer.read('/console/exceptions?kind=parked')).includes(`href="${strange}"`));
  t.regex(await viewer.read(strange), />user-a\/b\?c</);

  const recorded = await eventStore.load(projectionStream('payments'));
  t.deepEqual(
    recorded.map(({ data, metadata }) => [
      Reflect.get(Object(metadata), 'actor'),
      Reflect.get(Object(data), 'reason'),
    ]),
    [0, 1, 2].flatMap((time) => [
      [`staff:${admin.id}`, undefined],
      ['reactor:rebuilds', time < 2 ? 'Unknown event type PaymentTele\ufffdported' : null],
    ]),
  );
});
