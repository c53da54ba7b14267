// POST /landreg/request: one event with every item, once per transaksi_id, and every kind of bad input.
import test from 'ava';
import { startApp, startWatched } from '../../support/app.ts';
import { plain } from '../../support/payments.ts';
import { createLandPayment, postRequest, reportLandResult, requestBody } from './helpers.ts';

const app = await startApp();
const { watched, appended } = await startWatched(app);
test.after.always(async () => {
  await watched.close();
  await app.close();
});

const json = { accept: 'application/json' };

test.serial('answers the payment page with every item, and one event is what happened', async (t) => {
  const body = requestBody();
  const response = await postRequest(app, body);
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), 'text/html; charset=utf-8');
  const html = await response.text();
  for (const part of ['State Land Office', 'Cukai Tanah', '080102GRN00012345', 'Carian Rasmi', 'RM 20.50'])
    t.true(html.includes(part), part);
  const id = /landreg\/pay\/(\w{26})/.exec(html)?.[1] ?? '';
  const [event, ...more] = await app.events(id);
  t.deepEqual(more, []);
  if (event?.type !== 'PaymentRequested') return t.fail();
  const { at: _, personal, fingerprint: __, ...rest } = event.data;
  const data = { ...rest, ...plain(personal) };
  t.deepEqual(data as unknown, {
    transactionId: id,
    channel: 'landreg',
    merchant: { code: 'state-land', id: 10, name: 'State Land Office' },
    reference: body.transaksi_id,
    amountSen: 12_050,
    service: 'Urusan Tanah',
    description: 'Cukai Tanah, Carian Rasmi',
    items: [
      { description: 'Cukai Tanah', titleId: '080102GRN00012345', amountSen: 10_000 },
      { description: 'Carian Rasmi', titleId: '', amountSen: 2_050 },
    ],
    payer: {
      name: 'Aminah binti Ismail',
      email: 'aminah@example.my',
      icNo: '900101145678',
      address1: '1 Jalan Contoh',
      address2: '',
      city: 'Ipoh',
      postcode: '30000',
      state: 'Perak',
      phoneNo: '',
    },
    emailReceipt: true,
    callbackUrl: '',
    redirectUrl: 'https://land.example/done?session=1',
    branchCode: '00',
    extra: body.extra,
  });
  const [stored] = await app.eventStore.load(`payment-${id}`);
  t.like(stored?.metadata, { actor: 'land-registry' });
});

test.serial('every address in the page is absolute, so that the land registry can relay it', async (t) => {
  const html = await (await postRequest(app, requestBody())).text();
  const addresses = Array.from(html.matchAll(/\s(?:href|src|action)="([^"]*)"/g), ([, address]) => address);
  t.true(addresses.length >= 3);
  for (const address of addresses) t.regex(address ?? '', /^(https?:\/\/|data:|#)/);
});

test.serial('an Accept that names JSON alone gets JSON, with a link that needs no key', async (t) => {
  const { transactionId, payUrl } = await createLandPayment(app);
  t.regex(payUrl, new RegExp(`^${app.url}/landreg/pay/${transactionId}\\?sig=\\d{13}\\.[\\w-]{43}$`));
  t.is((await fetch(payUrl)).status, 200);
});

test.serial('a repeated request is the same transaction, and nothing is appended', async (t) => {
  const body = requestBody({ extra: { email: '' } });
  const ids = new Set<string>();
  for (const over of [
    {},
    { jumlah_bayaran: '120.50' },
    { extra: undefined },
    { extra: null },
    { extra: '' },
    { extra: [] },
    { more: 1 },
  ]) {
    const answer = await postRequest(app, { ...body, ...over }, json);
    ids.add(((await answer.json()) as { data: { transaction_id: string } }).data.transaction_id);
  }
  t.is(ids.size, 1);
  t.is((await app.events([...ids][0] ?? '')).length, 1);
});

for (const [field, value] of Object.entries({
  kod_cawangan: '01',
  return_url: 'https://land.example/other',
  maklumat_bayaran: [{ urusan: 'Lain', jumlah_bayaran: 120.5 }],
  extra: { account_no: 'B-2' },
}))
  test.serial(`the same transaksi_id with another ${field} is 409, and nothing is appended`, async (t) => {
    const body = requestBody();
    const { transactionId } = await createLandPayment(app, body);
    const response = await postRequest(app, { ...body, [field]: value });
    t.is(response.status, 409);
    t.deepEqual(await response.json(), {
      status: false,
      message: 'This reference was already used for a payment with other content',
    });
    t.is((await app.events(transactionId)).length, 1);
  });

// Before the others: beside all of them it would wait until deadlines pass.
test.serial('50 identical requests at once make one transaction with one event', async (t) => {
  const body = requestBody();
  const answers = await Promise.all(Array.from({ length: 50 }, () => createLandPayment(app, body)));
  const [id = '', ...more] = new Set(answers.map(({ transactionId }) => transactionId));
  t.deepEqual(more, []);
  t.is((await app.events(id)).length, 1);
});

test.serial('once paid, the same request shows the receipt', async (t) => {
  const body = requestBody();
  const { transactionId } = await createLandPayment(app, body);
  await reportLandResult(app, transactionId);
  t.regex(await (await postRequest(app, body)).text(), /Official receipt/);
  const answer = await (await postRequest(app, body, json)).json();
  t.like(answer, { status: true, message: 'This payment is already paid', data: { status: '1' } });
});

test.serial('20 items with the longest texts are accepted, and the description is shortened', async (t) => {
  const items = Array.from({ length: 20 }, (_, index) => ({
    id_hakmilik: '9'.repeat(50),
    urusan: `${String(index).padStart(2, '0')}${'𠮷'.repeat(98)}`,
    jumlah_bayaran: 0.1,
  }));
  const { transactionId } = await createLandPayment(app, { jumlah_bayaran: 2, maklumat_bayaran: items });
  const [event] = await app.events(transactionId);
  if (event?.type !== 'PaymentRequested') return t.fail();
  t.is(event.data.items.length, 20);
  t.is(Array.from(event.data.description).length, 250);
});

test.serial('undocumented fields are left out, except in extra', async (t) => {
  const { transactionId } = await createLandPayment(app, {
    surprise: 'x',
    maklumat_bayaran: [{ urusan: 'A', jumlah_bayaran: 120.5, surprise: 'y' }],
    extra: { phone: '012', list: [{ a: null }], name: '' },
  });
  const [event] = await app.events(transactionId);
  if (event?.type !== 'PaymentRequested') return t.fail();
  t.notRegex(JSON.stringify(event), /surprise/);
  t.deepEqual(plain(event.data.personal).extra, { phone: '012', list: [{ a: null }] });
});

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const item = (over: Record<string, unknown>) => ({
  maklumat_bayaran: [
    { urusan: 'A', jumlah_bayaran: 100 },
    { urusan: 'B', jumlah_bayaran: 20.5, ...over },
  ],
});
const extra = (over: Record<string, unknown>) => ({ extra: over });
const notNumeric = 'must be a number or a numeric text such as 10.50';

/** What is changed in a good body, and what is said about it. */
const bad: readonly (readonly [over: Record<string, unknown>, message: string])[] = [
  [{ kod_cawangan: undefined }, 'kod_cawangan is required'],
  [{ kod_cawangan: '04' }, 'kod_cawangan must be one of 00, 01'],
  [{ kod_cawangan: 0 }, 'kod_cawangan must be text'],
  [{ kod_cawangan: '0' }, 'kod_cawangan must be one of 00, 01'],
  [{ kod_cawangan: 'state-land' }, 'kod_cawangan must be one of 00, 01'],
  [{ kod_cawangan: 'constructor' }, 'kod_cawangan must be one of 00, 01'],
  [{ kod_cawangan: '' }, 'kod_cawangan is required'],
  [{ transaksi_id: undefined }, 'transaksi_id is required'],
  [{ transaksi_id: '  ' }, 'transaksi_id is required'],
  [{ transaksi_id: 17 }, 'transaksi_id must be text'],
  [
    { transaksi_id: ' T' },
    'transaksi_id must have no spaces but single ones (U+0020) between other characters',
  ],
  [{ transaksi_id: 'x'.repeat(101) }, 'transaksi_id must be at most 100 characters'],
  [{ transaksi_id: '..' }, 'transaksi_id must not be . or ..'],
  [{ transaksi_id: 'A\u200b1' }, 'transaksi_id must not contain invisible characters'],
  [
    { transaksi_id: 'A\0' },
    'transaksi_id must be plain text, without control characters or broken characters',
  ],
  [{ jumlah_bayaran: undefined }, 'jumlah_bayaran is required'],
  [{ jumlah_bayaran: 'RM 120.50' }, `jumlah_bayaran ${notNumeric}`],
  [{ jumlah_bayaran: -120.5 }, 'jumlah_bayaran must be more than 0.00'],
  [{ jumlah_bayaran: 0 }, 'jumlah_bayaran must be more than 0.00'],
  [{ jumlah_bayaran: 120.505 }, 'jumlah_bayaran must have at most two decimals'],
  [{ jumlah_bayaran: 1_000_000.01 }, 'jumlah_bayaran must be at most 1000000.00'],
  [{ jumlah_bayaran: 120.51 }, 'jumlah_bayaran is 120.51, but the items of maklumat_bayaran come to 120.50'],
  [
    item({ jumlah_bayaran: 20 }),
    'jumlah_bayaran is 120.50, but the items of maklumat_bayaran come to 120.00',
  ],
  [{ return_url: undefined }, 'return_url is required'],
  [{ return_url: 'land.example' }, 'return_url must be an http or https URL'],
  [{ return_url: 'javascript:alert(1)' }, 'return_url must be an http or https URL'],
  [{ return_url: 'https://a:b@land.example/' }, 'return_url must not contain a user name or password'],
  [{ return_url: `https://land.example/${'a'.repeat(2000)}` }, 'return_url must be at most 2000 characters'],
  [{ maklumat_bayaran: undefined }, 'maklumat_bayaran is required'],
  [{ maklumat_bayaran: null }, 'maklumat_bayaran is required'],
  [{ maklumat_bayaran: [] }, 'maklumat_bayaran must be a list of 1 to 20 items'],
  [{ maklumat_bayaran: { 0: {} } }, 'maklumat_bayaran must be a list of 1 to 20 items'],
  [
    { maklumat_bayaran: Array(21).fill({ urusan: 'A', jumlah_bayaran: 1 }) },
    'maklumat_bayaran must be a list of 1 to 20 items',
  ],
  [{ maklumat_bayaran: Array(10_000).fill(1) }, 'maklumat_bayaran must be a list of 1 to 20 items'],
  [{ maklumat_bayaran: ['A'] }, 'maklumat_bayaran[0] must be an object'],
  [{ maklumat_bayaran: [[]] }, 'maklumat_bayaran[0] must be an object'],
  [{ maklumat_bayaran: [null] }, 'maklumat_bayaran[0] must be an object'],
  [item({ urusan: undefined }), 'maklumat_bayaran[1].urusan is required'],
  [item({ urusan: 5 }), 'maklumat_bayaran[1].urusan must be text'],
  [item({ urusan: 'x'.repeat(101) }), 'maklumat_bayaran[1].urusan must be at most 100 characters'],
  [
    item({ urusan: 'a\nb' }),
    'maklumat_bayaran[1].urusan must be plain text, without control characters or broken characters',
  ],
  [item({ jumlah_bayaran: undefined }), 'maklumat_bayaran[1].jumlah_bayaran is required'],
  [item({ jumlah_bayaran: '1e1' }), `maklumat_bayaran[1].jumlah_bayaran ${notNumeric}`],
  [item({ jumlah_bayaran: 0 }), 'maklumat_bayaran[1].jumlah_bayaran must be more than 0.00'],
  [item({ id_hakmilik: '   ' }), 'maklumat_bayaran[1].id_hakmilik must not be blank'],
  [item({ urusan: '\u2060' }), 'maklumat_bayaran[1].urusan is required'],
  [
    item({ urusan: 'a\u202eb' }),
    'maklumat_bayaran[1].urusan must be plain text, without control characters or broken characters',
  ],
  [item({ id_hakmilik: 7 }), 'maklumat_bayaran[1].id_hakmilik must be text'],
  [item({ id_hakmilik: '7'.repeat(51) }), 'maklumat_bayaran[1].id_hakmilik must be at most 50 characters'],
  [{ extra: 'x' }, 'extra must be an object'],
  [{ extra: ['x'] }, 'extra must be an object'],
  [extra({ email: 'aminah' }), 'extra.email must be an email address'],
  [
    extra({ email: 'a@b.my\nBcc: c@d.my' }),
    'extra.email must be plain text, without control characters or broken characters',
  ],
  [extra({ ic_no: 900101145678 }), 'extra.ic_no must be text'],
  [extra({ name: 'x'.repeat(151) }), 'extra.name must be at most 150 characters'],
  [extra({ address: {} }), 'extra.address must be text'],
  [extra({ postcode: '3'.repeat(21) }), 'extra.postcode must be at most 20 characters'],
  [extra({ city: 'x'.repeat(101) }), 'extra.city must be at most 100 characters'],
  [extra({ state: false }), 'extra.state must be text'],
  [extra({ account_no: 12 }), 'extra.account_no must be text'],
  [
    extra({ more: deep(6) }),
    'extra must hold at most 5 levels, numbers up to 9007199254740991, and text without U+0000 or broken characters',
  ],
  [extra({ more: 'x'.repeat(8192) }), 'extra must be at most 8192 bytes of JSON'],
  [
    { transaksi_id: 1, extra: { email: 'x' }, maklumat_bayaran: [{}] },
    'transaksi_id must be text; maklumat_bayaran[0].urusan is required; ' +
      'maklumat_bayaran[0].jumlah_bayaran is required; extra.email must be an email address',
  ],
];

for (const [index, [over, message]] of bad.entries())
  test.serial(`bad input ${index + 1}: ${message}`, async (t) => {
    const response = await postRequest(watched, requestBody(over));
    t.deepEqual([response.status, await response.json()], [400, { status: false, message }]);
    t.deepEqual(appended, []);
  });

for (const [title, body, status, message] of [
  ['malformed JSON', '{"transaksi_id": ', 400, 'The request body is malformed'],
  ['a list', '[]', 400, 'The body must be a JSON object'],
  ['a prototype', '{"maklumat_bayaran":[{"__proto__":{}}]}', 400, 'The request body is malformed'],
  ['a 1 MiB body', JSON.stringify({ a: 'x'.repeat(2 ** 20) }), 413, 'The request body is too large'],
] as const)
  test.serial(`bad input: ${title}`, async (t) => {
    const response = await postRequest(watched, body);
    t.deepEqual([response.status, await response.json()], [status, { status: false, message }]);
    t.deepEqual(appended, []);
  });
