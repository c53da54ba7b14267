// POST /generic/request: the page or its JSON alternative, once per reference, and every kind of bad input.
import test, { type ExecutionContext } from 'ava';
import { readFields } from '../../../src/commands/fields.ts';
import { parseAmount } from '../../../src/common/money.ts';
import { paymentRequestBody } from '../../../src/http/generic/request.ts';
import { apiKey, startApp, startWatched } from '../../support/app.ts';
import { plain, sen } from '../../support/payments.ts';
import {
  createPayment,
  merchantHeaders,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
} from './helpers.ts';

const config = { maxAmountSen: sen(100_000_000) };
const app = await startApp({ config });
const { watched, appended } = await startWatched(app, { config });
test.after.always(async () => {
  await watched.close();
  await app.close();
});

const json = { accept: 'application/json' };

/** The transaction id that an answer in JSON gives. */
const idIn = async (answer: Response) =>
  ((await answer.json()) as { data: { transaction_id: string } }).data.transaction_id;

/** The transaction id to whose page the payer's form leads. */
const idInPage = (html: string) => /generic\/pay\/(\w{26})/.exec(html)?.[1] ?? '';

/** The request was refused for this reason, and nothing was recorded. */
async function isRefused(t: ExecutionContext, response: Response, status: number, message: string) {
  t.is(response.status, status);
  t.deepEqual(await response.json(), { status: false, message });
  t.deepEqual(appended, []);
}

const museum = { authorization: 'Bearer older-key', 'x-merchant-code': 'museum' };

test.serial(
  'references that differ in bytes of another encoding are refused, not taken for one',
  async (t) => {
    for (const name of ['É', 'È']) {
      const body = Buffer.from(JSON.stringify(requestBody({ trans_id: `FAKTUR ${name}` })), 'latin1');
      const headers = { ...merchantHeaders, ...json };
      const response = await fetch(`${app.url}/generic/request`, { method: 'POST', headers, body });
      t.is(response.status, 400);
      t.regex(await response.text(), /trans_id must be plain text/);
    }
  },
);

test.serial('answers the payment page, and appends one event', async (t) => {
  const body = requestBody({ amount: 1234.5, extra: { account_no: 'A-1', nested: [{ a: null }] } });
  const response = await postRequest(app, body);
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), 'text/html; charset=utf-8');
  const html = await response.text();
  const id = idInPage(html);
  const [event, ...more] = await app.events(id);
  t.deepEqual(more, []);
  if (event?.type !== 'PaymentRequested') return t.fail();
  const { at, personal, fingerprint, ...rest } = event.data;
  t.regex(fingerprint ?? '', /^[\w-]{43}$/);
  const data = { ...rest, ...plain(personal) };
  t.regex(at, /^\d{4}-.*Z$/);
  t.deepEqual(data, {
    transactionId: id,
    channel: 'generic',
    merchant: { code: 'council', id: 7, name: 'Example City Council' },
    reference: String(body.trans_id),
    amountSen: sen(123_450),
    service: 'Assessment tax',
    description: 'Second half of 2026',
    items: [],
    payer: {
      name: 'Aminah binti Ismail',
      email: 'aminah@example.my',
      icNo: '900101145678',
      address1: '',
      address2: '',
      city: '',
      postcode: '',
      state: '',
      phoneNo: '',
    },
    emailReceipt: true,
    callbackUrl: 'https://council.example/callback',
    redirectUrl: 'https://council.example/paid?session=1',
    branchCode: '',
    extra: { account_no: 'A-1', nested: [{ a: null }] },
  });
});

test.serial('payments of one person have no fingerprint in common', async (t) => {
  const fingerprintOf = async (trans_id: string) => {
    const [event] = await app.events(await idIn(await postRequest(app, requestBody({ trans_id }), json)));
    return event?.type === 'PaymentRequested' ? event.data.fingerprint : null;
  };
  const [one, other] = [await fingerprintOf('FP-1'), await fingerprintOf('FP-2')];
  t.not(one, other);
  t.is(await fingerprintOf('FP-1'), one);
});

test.serial('every address in the page is absolute, so that a merchant can relay it', async (t) => {
  const html = await (await postRequest(app, requestBody())).text();
  const addresses = Array.from(html.matchAll(/\s(?:href|src|action)="([^"]*)"/g), ([, address]) => address);
  t.true(addresses.length >= 3);
  for (const address of addresses) t.regex(address ?? '', /^(https?:\/\/|data:|tel:|mailto:|#)/);
  t.notRegex(html, /url\(|@import|<script/);
});

test.serial('an Accept that names JSON alone gets JSON', async (t) => {
  const response = await postRequest(app, requestBody(), json);
  t.is(response.status, 200);
  const { data, ...rest } = (await response.json()) as { data: Record<string, string> };
  t.deepEqual(rest, { status: true, message: 'Send the payer to payment_url' });
  t.deepEqual(data, {
    transaction_id: data.transaction_id ?? '',
    payment_url: `${app.url}/generic/pay/${data.transaction_id}`,
    status: '3',
  });
  t.is((await fetch(data.payment_url ?? '')).status, 200);
});

for (const accept of [
  '*/*',
  'text/html',
  'application/json, text/plain, */*',
  'application/json, text/html;q=0.5',
]) {
  test.serial(`an Accept of ${accept} gets the page`, async (t) => {
    const response = await postRequest(app, requestBody(), { accept });
    t.regex(response.headers.get('content-type') ?? '', /^text\/html/);
  });
}

test.serial('a repeated request is the same transaction, and nothing is appended', async (t) => {
  const inForm = (form: 'NFC' | 'NFD') => ({
    description: 'Yuran café'.normalize(form),
    name: 'Zoë'.normalize(form),
  });
  const body = requestBody(inForm('NFC'));
  const answers = [
    await postRequest(app, body, json),
    await postRequest(app, { ...body, amount: 120.5 }, json),
    await postRequest(app, { ...body, merchant_code: 'council', city: '', extra: {} }, json),
    await postRequest(app, { ...body, merchant_code: 'council', city: null, extra: '' }, json),
    // As PHP writes an empty array.
    await postRequest(app, { ...body, merchant_code: 'council', extra: [] }, json),
    await postRequest(app, { ...body, ...inForm('NFD') }, json),
  ];
  const ids = await Promise.all(answers.map(idIn));
  t.is(new Set(ids).size, 1);
  t.is((await app.events(ids[0] ?? '')).length, 1);
});

for (const [field, value] of Object.entries({
  amount: '120.51',
  service: 'Other',
  callback_url: 'https://council.example/other',
  redirect_url: 'https://council.example/other',
  email: 'other@example.my',
  extra: { a: 1 },
})) {
  test.serial(`the same reference with another ${field} is 409, and nothing is appended`, async (t) => {
    const body = requestBody();
    const id = await createPayment(app, body);
    const response = await postRequest(app, { ...body, [field]: value });
    t.is(response.status, 409);
    t.deepEqual(await response.json(), {
      status: false,
      message: 'This reference was already used for a payment with other content',
    });
    t.is((await app.events(id)).length, 1);
  });
}

// Before the others: beside all of them these two would wait until deadlines pass.
test.serial('50 identical requests at once make one transaction with one event', async (t) => {
  const body = requestBody();
  const answers = await Promise.all(Array.from({ length: 50 }, () => postRequest(app, body, json)));
  const ids = await Promise.all(answers.map(idIn));
  t.is(new Set(ids).size, 1);
  t.is((await app.events(ids[0] ?? '')).length, 1);
});

test.serial('of 20 simultaneous requests with one reference and two amounts, one amount wins', async (t) => {
  const body = requestBody();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      postRequest(app, { ...body, amount: `${10 + (index % 2)}.00` }, json),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  t.deepEqual(statuses, [...Array(10).fill(200), ...Array(10).fill(409)]);
});

test.serial('two merchants with the same reference have two payments', async (t) => {
  const body = requestBody({ redirect_url: 'https://museum.example/' });
  const id = await createPayment(app, body);
  const response = await postRequest(app, body, { ...json, ...museum });
  t.not(await idIn(response), id);
});

test.serial('once paid, the same request shows the receipt and the status', async (t) => {
  const body = requestBody();
  const id = await createPayment(app, body);
  await postResult(app, signed(resultFields(id)));
  const html = await (await postRequest(app, body)).text();
  t.regex(html, /Official receipt/);
  t.notRegex(html, /name="token"/);
  const answer = await (await postRequest(app, body, json)).json();
  t.like(answer, { status: true, message: 'This payment is already paid', data: { status: '1' } });
});

test.serial('the message says why nobody can begin to pay', async (t) => {
  let now = new Date('2026-11-20T01:30:00.000Z');
  const app = await startApp({ clock: () => now });
  t.teardown(() => app.close());
  const expires_at = '2026-11-20T10:00:00+08:00';
  const messageOf = async (body: unknown) => {
    const answer = await postRequest(app, body, json);
    t.is(answer.status, 200);
    return ((await answer.json()) as { message: string }).message;
  };
  const [pending, wrong, cancelled, expired] = [1, 2, 3, 4].map(() => requestBody({ expires_at }));
  for (const body of [pending, wrong, cancelled, expired])
    t.is(await messageOf(body), 'Send the payer to payment_url');
  await postResult(app, signed(resultFields(await createPayment(app, pending), { STATUS: '3' })));
  await postResult(app, signed(resultFields(await createPayment(app, wrong), { AMOUNT: '1.00' })));
  const url = `${app.url}/generic/payments/${await createPayment(app, cancelled)}/cancel`;
  t.is((await fetch(url, { method: 'POST', headers: merchantHeaders })).status, 202);
  t.is(await messageOf(pending), 'This payment is waiting for authorisation at the bank');
  t.is(await messageOf(wrong), 'Another amount was received for this payment');
  const closed = 'The agency has cancelled this payment, or it has expired';
  t.is(await messageOf(cancelled), closed);
  now = new Date(expires_at);
  t.is(await messageOf(expired), closed);
});

for (const name of ['陈美玲', 'தமிழ்ச்செல்வி', 'محمد بن عبد الله', "O'Brien <b>&amp;</b>", '𠮷野家 👩‍👩‍👧']) {
  test.serial(`a name is stored unchanged: ${name}`, async (t) => {
    const response = await postRequest(app, requestBody({ name }));
    const html = await response.text();
    const escaped = name
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll("'", '&#39;');
    t.true(html.includes(escaped));
    const id = idInPage(html);
    const [event] = await app.events(id);
    t.is(event?.type === 'PaymentRequested' && plain(event.data.personal).payer.name, name);
  });
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const tooLong = (length: number) => '𠮷'.repeat(length + 1);

const oddSpaces = 'trans_id must have no spaces but single ones (U+0020) between other characters';
const invisible = 'trans_id must not contain invisible characters';
const plainText = 'must be plain text, without control characters or broken characters';
const httpUrl = 'must be an http or https URL';
const numeric = 'amount must be a number or a numeric text such as 10.50';
const extraRule =
  'extra must hold at most 5 levels, numbers up to 9007199254740991, and text without U+0000 or broken characters';

/** What is changed in a good body, and what is said about it. */
const bad: Record<string, [Record<string, unknown>, string]> = {
  'amount -1': [{ amount: '-1' }, numeric],
  'amount -1 as a number': [{ amount: -1 }, 'amount must be more than 0.00'],
  'amount 0': [{ amount: '0' }, 'amount must be more than 0.00'],
  'amount 0 as a number': [{ amount: 0 }, 'amount must be more than 0.00'],
  'amount 1e3': [{ amount: '1e3' }, numeric],
  'amount 10.005': [{ amount: '10.005' }, 'amount must have at most two decimals'],
  'amount 10.005 as a number': [{ amount: 10.005 }, 'amount must have at most two decimals'],
  'amount 1,000.00': [{ amount: '1,000.00' }, numeric],
  'amount with spaces': [{ amount: ' 10.00' }, numeric],
  'amount in other digits': [{ amount: '١٠' }, numeric],
  'amount over the limit': [{ amount: '1000000.01' }, 'amount must be at most 1000000.00'],
  'amount far over the limit': [{ amount: 1e300 }, 'amount must be at most 1000000.00'],
  'amount true': [{ amount: true }, numeric],
  'amount in a list': [{ amount: ['10'] }, numeric],
  'amount that names a fault': [{ amount: 'missing' }, numeric],
  'amount null': [{ amount: null }, 'amount is required'],
  'amount empty': [{ amount: '' }, 'amount is required'],
  'trans_id missing': [{ trans_id: undefined }, 'trans_id is required'],
  'trans_id blank': [{ trans_id: '   ' }, 'trans_id is required'],
  'trans_id a number': [{ trans_id: 7 }, 'trans_id must be text'],
  'trans_id with a space at its beginning': [{ trans_id: ' A-1' }, oddSpaces],
  'trans_id with a space at its end': [{ trans_id: 'A-1 ' }, oddSpaces],
  'trans_id with two spaces': [{ trans_id: 'A  1' }, oddSpaces],
  'trans_id with a space that breaks no line': [{ trans_id: 'A\u00a01' }, oddSpaces],
  'trans_id with a wide space': [{ trans_id: 'A\u30001' }, oddSpaces],
  'trans_id with an accent as a character of its own': [
    { trans_id: 'Cafe\u0301' },
    'trans_id must be in Unicode normalisation form C (NFC)',
  ],
  'trans_id that no path can hold': [{ trans_id: '..' }, 'trans_id must not be . or ..'],
  'trans_id that is one point': [{ trans_id: '.' }, 'trans_id must not be . or ..'],
  'trans_id too long': [{ trans_id: tooLong(100) }, 'trans_id must be at most 100 characters'],
  'trans_id with NUL': [{ trans_id: 'A\0' }, `trans_id ${plainText}`],
  'trans_id with what stands for bytes that are not UTF-8': [
    { trans_id: 'A\ufffd' },
    `trans_id ${plainText}`,
  ],
  'trans_id with what is not seen': [{ trans_id: 'A\u200d1' }, invisible],
  'trans_id with a variation selector': [{ trans_id: 'A\ufe0f1' }, invisible],
  'trans_id with a Braille cell without dots': [{ trans_id: 'A-1\u2800' }, invisible],
  'trans_id with a Hangul filler': [{ trans_id: 'A\u31641' }, invisible],
  'description of two lines': [{ description: 'a\u2028b' }, `description ${plainText}`],
  'service of two paragraphs': [{ service: 'a\u2029b' }, `service ${plainText}`],
  'service that turns the text around it': [{ service: 'a\u2066b' }, `service ${plainText}`],
  'service missing': [{ service: undefined }, 'service is required'],
  'service too long': [{ service: tooLong(100) }, 'service must be at most 100 characters'],
  'service that nobody can see': [{ service: '\u200b\u2800 \ufeff' }, 'service is required'],
  'description null': [{ description: null }, 'description is required'],
  'description with half a character': [{ description: 'a\ud800' }, `description ${plainText}`],
  'description too long': [{ description: tooLong(250) }, 'description must be at most 250 characters'],
  'callback_url missing': [{ callback_url: undefined }, 'callback_url is required'],
  'callback_url ftp': [{ callback_url: 'ftp://council.example/' }, `callback_url ${httpUrl}`],
  'callback_url with credentials': [
    { callback_url: 'https://user:secret@council.example/' },
    'callback_url must not contain a user name or password',
  ],
  'redirect_url javascript': [{ redirect_url: 'javascript:alert(1)' }, `redirect_url ${httpUrl}`],
  'redirect_url relative': [{ redirect_url: '/paid' }, `redirect_url ${httpUrl}`],
  'redirect_url without slashes': [{ redirect_url: 'https:council.example' }, `redirect_url ${httpUrl}`],
  'redirect_url with a backslash': [
    { redirect_url: 'https://council.example\\@evil.example/' },
    `redirect_url ${httpUrl}`,
  ],
  'redirect_url with a line break': [
    { redirect_url: 'https://council.example/\r\nSet-Cookie: a=b' },
    `redirect_url ${plainText}`,
  ],
  'redirect_url with a bad port': [
    { redirect_url: 'https://council.example:99999/' },
    `redirect_url ${httpUrl}`,
  ],
  'redirect_url too long': [
    { redirect_url: `https://council.example/${'a'.repeat(2000)}` },
    'redirect_url must be at most 2000 characters',
  ],
  'email without domain': [{ email: 'aminah' }, 'email must be an email address'],
  'email with two addresses': [{ email: 'a@b.my,c@d.my' }, 'email must be an email address'],
  'email with a header': [{ email: 'a@b.my\nBcc: c@d.my' }, `email ${plainText}`],
  'email false': [{ email: false }, 'email must be text'],
  'name a list': [{ name: ['A'] }, 'name must be text'],
  'extra a text': [{ extra: 'x' }, 'extra must be an object'],
  'extra a list': [{ extra: ['x'] }, 'extra must be an object'],
  'extra too deep': [{ extra: deep(6) }, extraRule],
  'extra with NUL in a name': [{ extra: { 'a\0': 1 } }, extraRule],
  'extra with half a character': [{ extra: { a: 'b\ud800' } }, extraRule],
  'extra too large': [{ extra: { a: 'x'.repeat(8192) } }, 'extra must be at most 8192 bytes of JSON'],
  'two fields': [{ service: '', email: 'x' }, 'service is required; email must be an email address'],
};

for (const [title, [over, message]] of Object.entries(bad)) {
  test.serial(`bad input: ${title}`, async (t) => {
    await isRefused(t, await postRequest(watched, requestBody(over)), 400, message);
  });
}

/** `value` is JSON as it is sent, which JavaScript might write differently. */
const bodyWithExtra = (value: string) =>
  JSON.stringify(requestBody({ extra: { a: 1 } })).replace('"a":1', `"a":${value}`);

const faultyBodies: Record<string, [string, number, string, Record<string, string>?]> = {
  'malformed JSON': ['{"trans_id": ', 400, 'The request body is malformed'],
  'a JSON text': ['"hello"', 400, 'The request body is malformed'],
  'JSON null': ['null', 400, 'The request body is malformed'],
  'a JSON list': ['[]', 400, 'The body must be a JSON object'],
  'a prototype in the body': ['{"__proto__": {"amount": 1}}', 400, 'The request body is malformed'],
  'a prototype deep in extra': ['{"extra": {"__proto__": {}}}', 400, 'The request body is malformed'],
  'an escaped prototype': ['{"_\\u005Fp\\u0072oto__": {}}', 400, 'The request body is malformed'],
  'an escaped letter of a prototype': ['{"__\\u0070roto__": {}}', 400, 'The request body is malformed'],
  'bytes that are no text': ['\ufffd{}', 400, 'The request body is malformed'],
  'a number beyond all bounds': [bodyWithExtra('1e999'), 400, extraRule],
  'a number that would lose digits': [bodyWithExtra('12345678901234567890'), 400, extraRule],
  'very deep JSON': [bodyWithExtra(`${'['.repeat(20_000)}${']'.repeat(20_000)}`), 400, extraRule],
  'a 1 MiB body': [
    JSON.stringify(requestBody({ name: 'x'.repeat(2 ** 20) })),
    413,
    'The request body is too large',
  ],
  'a form': [
    'trans_id=1',
    415,
    'The Content-Type must be application/json',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  'a text': ['trans_id', 415, 'The Content-Type must be application/json', { 'content-type': 'text/plain' }],
  'another charset': [
    JSON.stringify(requestBody({ name: 'Jos\u00e9' })),
    415,
    'The charset of JSON must be UTF-8',
    { 'content-type': 'application/json; charset=iso-8859-1' },
  ],
  'an encoded body': ['{}', 415, 'The body must not have a Content-Encoding', { 'content-encoding': 'gzip' }],
};

for (const [title, [body, status, message, headers]] of Object.entries(faultyBodies)) {
  test.serial(`bad input: ${title}`, async (t) => {
    await isRefused(t, await postRequest(watched, body, headers), status, message);
  });
}

test.serial(
  'names and texts that only look like a prototype are taken, after a byte order mark too',
  async (t) => {
    const body = `\ufeff${JSON.stringify(requestBody({ extra: { note: '__proto__', proto: '\u0070' } }))}`;
    t.is((await postRequest(app, body.replace('"p"', '"\\u0070"'))).status, 200);
  },
);

const credentials: Record<string, [Record<string, string>, Record<string, unknown>, string]> = {
  'no key': [{ authorization: '' }, {}, 'Missing merchant_code or API key'],
  'no code': [{ 'x-merchant-code': '' }, {}, 'Missing merchant_code or API key'],
  'an unknown merchant': [{ 'x-merchant-code': 'nobody' }, {}, 'Merchant code not registered'],
  'a wrong key': [{ authorization: 'Bearer wrong' }, {}, 'Unauthorized - invalid API key for merchant'],
  'a body that disagrees': [{}, { merchant_code: 'museum' }, 'Unauthorized - invalid API key for merchant'],
};

for (const [title, [headers, over, message]] of Object.entries(credentials)) {
  test.serial(`credentials: ${title}`, async (t) => {
    await isRefused(t, await postRequest(watched, requestBody(over), headers), 401, message);
  });
}

test.serial('credentials are checked before the fields, so an empty request is 401', async (t) => {
  const response = await fetch(`${app.url}/generic/request`, { method: 'POST' });
  t.is(response.status, 401);
  t.deepEqual(await response.json(), { status: false, message: 'Missing merchant_code or API key' });
});

test.serial('code and key may come in the body', async (t) => {
  const response = await fetch(`${app.url}/generic/request`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(requestBody({ merchant_code: 'council', api_key: apiKey })),
  });
  t.is(response.status, 200);
  const html = await response.text();
  t.false(html.includes(apiKey));
});

test.serial('undocumented fields are left out', async (t) => {
  const id = await createPayment(app, { surprise: 'x', transactionId: 'mine' });
  t.notRegex(JSON.stringify(await app.events(id)), /surprise|mine/);
});

test.serial('a merchant with redirect hosts may use no other', async (t) => {
  for (const [url, status] of [
    ['https://museum.example/paid', 200],
    ['https://MUSEUM.example:8443/paid', 200],
    ['https://museum.example.evil.example/', 400],
    ['https://evil.example/?museum.example', 400],
  ] as const) {
    const response = await postRequest(app, requestBody({ redirect_url: url }), museum);
    t.is(response.status, status, url);
  }
});

test('in production the URLs must be https', (t) => {
  const body = paymentRequestBody({ ...config, production: true });
  for (const field of ['callback_url', 'redirect_url'])
    t.throws(() => readFields(requestBody({ [field]: 'http://council.example/' }), body), {
      message: `${field} must be an https URL`,
    });
  t.notThrows(() => readFields(requestBody(), body));
});

test.serial('binary noise in a sum is accepted', async (t) => {
  const amount = 10.1 + 20.2;
  t.is(parseAmount(amount, sen(10_000)), sen(3030));
  t.is((await postRequest(app, requestBody({ amount }))).status, 200);
});

test.serial('a payment is not refused because of an email that mail servers would refuse', async (t) => {
  for (const email of ['a..b@example.my', '.a@example.my'])
    t.is((await postRequest(app, requestBody({ email }))).status, 200, email);
});
