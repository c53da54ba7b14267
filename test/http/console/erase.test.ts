// Erasing a payment's personal data in the console: asked first, by administrators alone, and seen on every page.
import test from 'ava';
import { paymentStream, readPaymentEvent } from '../../../src/events/payment.ts';
import { startApp } from '../../support/app.ts';
import { signIn } from '../../support/console.ts';
import { onlyUnmatchedPath } from '../../support/quarantine.ts';
import { carryOut, createPayment, postResult, resultFields, signed } from '../generic/helpers.ts';

const app = await startApp();
test.after.always(() => app.close());

test.serial('asked first; then the payer is gone from every page, and the rest is there', async (t) => {
  const id = await createPayment(app);
  await postResult(app, signed(resultFields(id)));
  const admin = await signIn(app, 'admin');
  const pageOf = async (path: string) => (await admin.get(`/console/payments/${id}${path}`)).text();
  t.regex(await pageOf(''), /Erase personal data/);
  t.regex(await pageOf('/payer'), /Aminah binti Ismail/);
  t.regex(await pageOf('/events/0'), /What it says[\s\S]*Aminah binti Ismail/);
  t.regex(await pageOf('/erase'), /Erase permanently/);
  t.is((await app.events(id)).length, 2, 'asking changes nothing');

  const answer = await admin.post(`/console/payments/${id}/erase`);
  t.is(answer.headers.get('location'), `/console/payments/${id}?notice=erased`);
  const last = await app.eventStore.loadLast(paymentStream(id));
  t.like(last && readPaymentEvent(last), { type: 'PersonalDataErased', data: { reason: 'requested' } });
  t.like(last?.metadata, { actor: `staff:${admin.id}` });
  for (const path of ['', '/payer', '/events/0', '/events/1', '/history.json', '/erase'])
    t.notRegex(await pageOf(path), /Aminah|aminah@|900101145678/i, path);
  t.regex(await pageOf('/payer'), /Personal data erased on/);
  t.regex(await pageOf(''), /Personal data erased<\/dt>/);
  t.notRegex(await pageOf(''), /Erase personal data/);
  t.regex(await pageOf('/erase'), /holds no personal data/);
  const receipt = await (await fetch(`${app.url}/generic/receipt/${id}`)).text();
  t.regex(receipt, /Official receipt/);
  t.notRegex(receipt, /Aminah|\*5678/i);
});

test.serial('the receipt email cannot be sent again, and stays delivered', async (t) => {
  const id = await createPayment(app);
  await postResult(app, signed(resultFields(id)));
  const outcome = { kind: 'delivered', status: null, messageId: '<1>' } as const;
  const tried = { at: '2026-11-20T01:05:02.000Z', delivery: 'email', attempt: 1, durationMs: 5 };
  await carryOut(app, id, { type: 'RecordDeliveryAttempt', ...tried, outcome });
  const admin = await signIn(app, 'admin');
  const page = async () => (await admin.get(`/console/payments/${id}`)).text();
  t.regex(await page(), /name="delivery" value="email"/);
  await admin.post(`/console/payments/${id}/erase`);
  t.notRegex(await page(), /name="delivery" value="email"/);
  const refused = await admin.post(`/console/payments/${id}/send-again`, { delivery: 'email' });
  t.is(refused.status, 409);
  t.regex(await refused.text(), /The personal data that this delivery needs are erased/);
});

for (const role of ['member', 'viewer'] as const)
  test.serial(`a ${role} neither sees the action nor may perform it`, async (t) => {
    const id = await createPayment(app);
    const staff = await signIn(app, role);
    t.notRegex(await (await staff.get(`/console/payments/${id}`)).text(), /Erase personal data/);
    t.is((await staff.post(`/console/payments/${id}/erase`)).status, 403);
    t.is((await app.events(id)).length, 1);
  });

test.serial('an unmatched result likewise: what was received is gone, and the exception stays', async (t) => {
  await postResult(app, signed(resultFields('0'.repeat(26), { BUYER_NAME: 'Aminah binti Ismail' })));
  const path = `/console/exceptions/${await onlyUnmatchedPath(app.eventStore)}`;
  const admin = await signIn(app, 'admin');
  const pageOf = async (of: string) => (await admin.get(`${path}${of}`)).text();
  t.regex(await pageOf('/evidence'), /Aminah binti Ismail/);
  t.regex(await pageOf(''), /Erase personal data/);
  t.regex(await pageOf('/erase'), /every field of this result[\s\S]*Erase permanently/);
  const member = await signIn(app, 'member');
  t.is((await member.post(`${path}/erase`)).status, 403);
  const answer = await admin.post(`${path}/erase`);
  t.is(answer.headers.get('location'), `${path}?notice=erased`);
  for (const each of ['', '/evidence', '/erase']) t.notRegex(await pageOf(each), /Aminah/, each);
  t.regex(await pageOf('/evidence'), /has been erased/);
  t.regex(await pageOf(''), /Personal data erased<\/dt>/);
  t.notRegex(await pageOf(''), /Erase personal data|Show what was received/);
  t.regex(await pageOf('/erase'), /holds no personal data/);
  const resolution = { resolution: 'explained', note: 'A forgery' };
  t.is((await admin.post(path, resolution)).headers.get('location'), `${path}?notice=resolved`);
  t.regex(await pageOf(''), /A forgery/);
  t.is((await admin.get('/console/exceptions/unmatched/7/erase')).status, 404);
});

test.serial('a payment that does not exist is 404', async (t) => {
  const admin = await signIn(app, 'admin');
  const path = `/console/payments/${'0'.repeat(26)}/erase`;
  t.is((await admin.get(path)).status, 404);
  t.is((await admin.post(path)).status, 404);
});

test.serial(
  'an erasure that cannot begin is no success, and the page says that it may still complete',
  async (t) => {
    const id = await createPayment(app);
    const erase = () => Promise.reject(new Error('no stores'));
    const away = await startApp({ console: { erase } }, app);
    t.teardown(() => away.close());
    const admin = await signIn(away, 'admin');
    const answer = await admin.post(`/console/payments/${id}/erase`);
    t.is(answer.status, 503);
    t.regex(await answer.text(), /If the erasure had begun, it completes by itself/);
    t.true(away.logged.some(({ msg }) => msg === 'personal data could not be erased'));
    t.is((await app.events(id)).length, 1);
  },
);
