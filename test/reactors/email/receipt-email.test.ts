// The receipt email as the reactor performs it: what the payer gets is what the page and the download give.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailer, type Mail, type Mailer, type MailOutcome } from '@ledger/outbound/mailer.ts';
import test from 'ava';
import PostalMime from 'postal-mime';
import type { OpenPayment } from '../../../src/events/open-payment.ts';
import { evolve, noPayment, type Payment } from '../../../src/events/payment.ts';
import type { DeliveryOutcome } from '../../../src/reactors/deliveries/delivery-task.ts';
import { createReceiptEmail } from '../../../src/reactors/email/receipt-email.ts';
import { temporaryFolder } from '../../embedded/helpers.ts';
import { chooseMethod, createPayment, postResult, resultFields, signed } from '../../http/generic/helpers.ts';
import { createLandPayment, reportLandResult } from '../../http/landreg/helpers.ts';
import { linkKeys, startApp } from '../../support/app.ts';
import { documents } from '../../support/documents.ts';
import { opened } from '../../support/payments.ts';
import { testRuntime } from '../../support/runtime.ts';

const app = await startApp();
const { receipt: drawReceipt } = documents;
test.after.always(() => app.close());

const config = { baseUrl: app.url, linkKeys };
const runtime = testRuntime();
const signal = AbortSignal.timeout(60_000);
const correlationId = 'request-1';

async function paid(over: Record<string, unknown> = {}, lang?: 'en' | 'ms'): Promise<OpenPayment> {
  const id = await createPayment(app, over);
  if (lang) await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227' }, lang);
  await postResult(app, signed(resultFields(id)));
  const payment = (await app.events(id)).reduce<Payment>(evolve, noPayment);
  if (payment.status !== 'succeeded') throw new Error('It did not succeed');
  return opened(payment);
}

function emailOf({ deliveries }: OpenPayment) {
  const delivery = deliveries.find(({ kind }) => kind === 'email');
  if (!delivery) throw new Error('No email is due');
  return { delivery, planned: { key: 'email', kind: 'email' } as const };
}

for (const lang of ['en', 'ms'] as const) {
  test(`page, download and email agree in ${lang}: every figure, and the PDF to the byte`, async (t) => {
    // Whatever the merchant says, it is the language in which the payer chose.
    const payment = await paid({ extra: { lang: 'en' } }, lang);
    const { transactionId } = payment.request;
    const outboxDir = await temporaryFolder(t);
    const from = { name: '', address: 'no-reply@ledger.example' };
    const perform = createReceiptEmail({
      mailer: createMailer({
        runtime,
        mail: { smtpUrl: null, requireTls: false, from },
        outboxDir,
      }),
      config,
      drawReceipt,
      runtime,
    });
    t.deepEqual(await perform({ payment, ...emailOf(payment), correlationId, signal }), {
      kind: 'delivered',
      status: null,
      messageId: `<${transactionId}-email@ledger.example>`,
    });
    const email = await PostalMime.parse(await readFile(join(outboxDir, `${transactionId}-email.eml`)));

    const download = await fetch(`${app.url}/generic/download/${transactionId}?lang=${lang}`);
    const [pdf] = email.attachments;
    t.deepEqual(Buffer.from(pdf?.content as ArrayBuffer), Buffer.from(await download.arrayBuffer()));
    t.is(download.headers.get('content-disposition'), `inline; filename="${pdf?.filename}"`);

    const page = await (await fetch(`${app.url}/generic/receipt/${transactionId}?lang=${lang}`)).text();
    const facts = Array.from(page.matchAll(/<dt>(.*?)<\/dt><dd dir="auto">(.*?)<\/dd>/g));
    t.true(facts.length > 10);
    for (const [, label, fact] of facts) t.true(email.text?.includes(`${label}: ${fact}\n`), label);
    for (const sum of page.match(/RM\s[\d,.]+/g) ?? []) t.true(email.text?.includes(sum), sum);
    t.true(email.text?.includes(`${app.url}/generic/receipt/${transactionId}?lang=${lang}`));
  });
}

/** What the mailer is given of the email that is due with this key. */
async function mailOf(payment: OpenPayment, key: string): Promise<Mail> {
  const mails: Mail[] = [];
  const mailer: Mailer = {
    send: async (mail) => {
      mails.push(mail);
      return { kind: 'sent', messageId: '<x>' };
    },
  };
  const delivery = payment.deliveries.find((each) => each.key === key);
  if (!delivery) throw new Error(`No ${key} is due`);
  const planned = { key, kind: 'email' } as const;
  await createReceiptEmail({ mailer, config, drawReceipt, runtime })({
    payment,
    delivery,
    planned,
    correlationId,
    signal,
  });
  const [mail] = mails;
  if (!mail) throw new Error('Nothing was sent');
  return mail;
}

test('the payer hears of a wrong amount, with no receipt and nothing that looks like one', async (t) => {
  const id = await createPayment(app, { name: '<b>Aminah</b>', extra: { lang: 'ms' } });
  await postResult(app, signed(resultFields(id, { AMOUNT: '121.50' })));
  const payment = (await app.events(id)).reduce<Payment>(evolve, noPayment);
  if (payment.status === 'none') return t.fail();
  const mail = await mailOf(opened(payment), 'notice-1');
  t.regex(mail.subject, /^Mengenai pembayaran anda INV-/);
  t.is(mail.to, 'aminah@example.my');
  t.is(mail.attachment, undefined);
  for (const body of [mail.text, mail.html]) {
    t.true(body.includes('Kami menerima RM 121.50 dan bukan RM 120.50.'));
    t.true(body.includes('Jangan bayar semula.'));
    t.true(body.includes(payment.request.reference));
    t.notRegex(body, /Resit rasmi|Berjaya|✓|&#10003;/);
  }
  t.false(mail.html.includes('<b>Aminah'));
});

test('where the payer chose nothing, the merchant names the language; one that is none of ours is English', async (t) => {
  const subjects: string[] = [];
  const mailer: Mailer = {
    send: async ({ subject }) => {
      subjects.push(subject);
      return { kind: 'sent', messageId: '<x>' };
    },
  };
  for (const lang of ['fr', 1, ['ms'], null, 'MS']) {
    const payment = await paid({ extra: { lang } });
    await createReceiptEmail({ mailer, config, drawReceipt, runtime })({
      payment,
      ...emailOf(payment),
      correlationId,
      signal,
    });
  }
  for (const subject of subjects) t.regex(subject, /^Official receipt /);
  t.is(subjects.length, 5);
  const malay = await paid({ extra: { lang: 'ms' } });
  await createReceiptEmail({ mailer, config, drawReceipt, runtime })({
    payment: malay,
    ...emailOf(malay),
    correlationId,
    signal,
  });
  t.regex(subjects.at(-1) ?? '', /^Resit rasmi /);
});

test('the link in the land registry’s email opens the receipt, with nothing but the link', async (t) => {
  const { transactionId } = await createLandPayment(app);
  await reportLandResult(app, transactionId);
  const folded = (await app.events(transactionId)).reduce<Payment>(evolve, noPayment);
  if (folded.status === 'none') return t.fail();
  const payment = opened(folded);
  const texts: string[] = [];
  const mailer: Mailer = {
    send: async ({ text }) => {
      texts.push(text);
      return { kind: 'sent', messageId: '<x>' };
    },
  };
  await createReceiptEmail({ mailer, config, drawReceipt, runtime })({
    payment,
    ...emailOf(payment),
    correlationId,
    signal,
  });
  const links = texts.join().match(/http:\S+/g) ?? [];
  t.is(links.length, 2);
  for (const link of links) {
    const response = await fetch(link);
    t.is(response.status, 200);
    t.true((await response.text()).includes(transactionId));
  }
});

const unreadable = [
  [{ kind: 'erased', at: null }, 'abandoned', 'personal data erased'],
  [{ kind: 'unavailable', isLost: true }, 'failed', 'personal data cannot be read any more'],
] as const;
for (const [access, kind, reason] of unreadable)
  test(`no receipt is sent: ${reason}`, async (t) => {
    const payment = await paid();
    const mailer: Mailer = { send: () => Promise.reject(new Error('not to be called')) };
    const perform = createReceiptEmail({ mailer, config, drawReceipt, runtime });
    t.like(await perform({ ...emailOf(payment), payment: { ...payment, access }, correlationId, signal }), {
      kind,
      reason,
    });
  });

const outcomes: [MailOutcome, DeliveryOutcome][] = [
  [
    { kind: 'failed', reason: 'greylisted', isServerDown: false },
    { kind: 'failed', status: null, reason: 'greylisted', isReceiverDown: false, retryAfterMs: 0 },
  ],
  [
    { kind: 'failed', reason: 'no answer', isServerDown: true },
    { kind: 'failed', status: null, reason: 'no answer', isReceiverDown: true, retryAfterMs: 0 },
  ],
  [
    { kind: 'refused', reason: '550' },
    { kind: 'abandoned', status: null, reason: '550' },
  ],
];
for (const [outcome, expected] of outcomes)
  test(`the mailer says ${JSON.stringify(outcome)}`, async (t) => {
    const payment = await paid();
    const perform = createReceiptEmail({
      mailer: { send: async () => outcome },
      config,
      drawReceipt,
      runtime,
    });
    t.deepEqual(await perform({ payment, ...emailOf(payment), correlationId, signal }), expected);
  });
