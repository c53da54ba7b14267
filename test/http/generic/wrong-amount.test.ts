// What a payer sees of a payment that came with another amount: until staff settle it, and after that.
import test from 'ava';
import type { Resolution } from '../../../src/events/recorded-result.ts';
import { startApp } from '../../support/app.ts';
import { resolving, sen } from '../../support/payments.ts';
import {
  carryOut,
  chooseMethod,
  hiddenFields,
  pagesOf,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
  tokenOf,
} from './helpers.ts';

const app = await startApp();
test.after.always(() => app.close());
const { chosen, payUrl, receiptUrl } = pagesOf(app);

const settle = (id: string, resolution: Resolution) =>
  carryOut(app, id, resolving(1, resolution, new Date().toISOString()));

const wrongAmount = async (over: Record<string, string> = {}) => {
  const body = requestBody();
  const { data } = (await (await postRequest(app, body, { accept: 'application/json' })).json()) as {
    data: { transaction_id: string };
  };
  const id = data.transaction_id;
  const token = tokenOf(await (await fetch(payUrl(id))).text());
  await chooseMethod(app, id, { token, method: 'cc' });
  await postResult(app, signed(resultFields(id, { AMOUNT: '121.50', ...over })));
  return { id, token, body };
};

test('after a wrong amount the link leads to a page that says so, and a method chosen before is refused', async (t) => {
  const { id, token, body } = await wrongAmount();
  const answers = [
    await fetch(payUrl(id), { redirect: 'manual' }),
    await chooseMethod(app, id, { token, method: 'cc' }),
    await chooseMethod(app, id, { token, method: 'wallet' }),
  ];
  for (const answer of answers) {
    t.is(answer.status, 303);
    t.is(answer.headers.get('location')?.replace('?lang=en', ''), receiptUrl(id));
  }
  t.is((await chosen(id)).length, 1);
  const page = await (await fetch(receiptUrl(id))).text();
  t.true(page.includes('We received RM\u00a0121.50 instead of RM\u00a0120.50.'));
  t.true(page.includes('Do not pay again.') && page.includes(String(body.trans_id)));
  t.regex(page, /class="status wrongAmount"/);
  t.notRegex(page, /generic\/pay\//);
  t.regex(page, /council\.example\/paid[^"]*status=3"/);
  const malay = await (await fetch(`${receiptUrl(id)}?lang=ms`)).text();
  t.true(malay.includes('Kami menerima RM\u00a0121.50 dan bukan RM\u00a0120.50.'));
  t.true(malay.includes('Jangan bayar semula.'));
  const again = await (await postRequest(app, body)).text();
  t.true(
    again.includes('We received RM\u00a0121.50 instead of RM\u00a0120.50.'),
    'a repeated request shows the same',
  );
});

test('a wrong amount in another currency, or an unreadable one, is told as it was reported', async (t) => {
  const dollars = await wrongAmount({ AMOUNT: '120.50', CURRENCY: 'USD<b>' });
  const page = await (await fetch(receiptUrl(dollars.id))).text();
  t.true(
    page.includes('We received USD&lt;b&gt; 120.50 instead of RM\u00a0120.50.'),
    page.match(/We received.*/)?.[0],
  );
  const unreadable = await wrongAmount({ AMOUNT: 'a lot' });
  t.true((await (await fetch(receiptUrl(unreadable.id))).text()).includes('We received an unknown amount'));
});

test('once the wrong amount is returned, the link says so and lets the payer pay', async (t) => {
  const { id } = await wrongAmount();
  await settle(id, 'refunded');
  const page = await (await fetch(payUrl(id))).text();
  t.regex(page, /We received RM\u00a0121\.50 instead of RM\u00a0120\.50\. It was returned to you on/);
  t.is((await chooseMethod(app, id, { method: 'wallet' })).status, 200);
  t.is((await chosen(id)).length, 2);
});

test('once the wrong amount is credited, it has paid, and the link leads to its receipt', async (t) => {
  const { id } = await wrongAmount();
  await settle(id, 'credited');
  t.is((await fetch(payUrl(id), { redirect: 'manual' })).status, 303);
  const page = await (await fetch(receiptUrl(id))).text();
  t.regex(page, /Official receipt.*The amount asked for was RM\u00a0120\.50\..*RM 121\.50/s);
  t.notRegex(page, /Do not pay again/);
});

test('the payer is asked for what is outstanding when the attempt is recorded', async (t) => {
  const { id } = await wrongAmount({ AMOUNT: '60.25' });
  const terms = { toldOf: [], takesParts: true, approvalAboveSen: null };
  await carryOut(app, id, { ...resolving(1, 'credited'), terms });
  const action = {
    kind: 'refund',
    chargeNo: 1,
    amountSen: sen(6_025),
    gatewayReference: 'RF-1',
    reason: 'x',
  } as const;
  let refunds = 0;
  const append: typeof app.eventStore.append = async (...given) => {
    // Between the moment at which the payment was read and that at which the attempt is appended.
    refunds += 1;
    if (refunds === 1) await carryOut(app, id, { ...resolving(1, 'credited'), terms, action });
    return app.eventStore.append(...given);
  };
  const other = await startApp({ eventStore: { append } }, app);
  t.teardown(() => other.close());
  const response = await chooseMethod(other, id, { method: 'wallet' });
  t.like(hiddenFields(await response.text()), { AMOUNT: '120.50', MERCHANT_ORDER_NO: `${id}-2` });
});
