// POST /generic/response: which results are accepted or quarantined, and that a result is durable before it is answered.
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test, { type ExecutionContext } from 'ava';
import { paymentStream } from '../../../src/events/payment.ts';
import { gatewaySecret, startApp } from '../../support/app.ts';
import { plain } from '../../support/payments.ts';
import { addUnmatched, quarantined } from '../../support/quarantine.ts';
import { type Body, createPayment, postResult, resultFields, signed } from './helpers.ts';

const app = await startApp();
test.after.always(() => app.close());

const receiptUrl = (id: string) => `${app.url}/generic/receipt/${id}`;

async function results(id: string) {
  const events = await app.events(id);
  return events.flatMap((event) => ('result' in event.data ? [{ type: event.type, ...event.data }] : []));
}

const typesOf = async (id: string) => (await results(id)).map(({ type }) => type);

/** The result was refused for this reason. */
async function isRefused(t: ExecutionContext, response: Response, status: number, message: string) {
  t.is(response.status, status);
  t.deepEqual(await response.json(), { status: false, message });
}

const onceEach = 'Every field must be a text, sent once';
const malformed = 'The request body is malformed';
const tooLarge = 'The request body is too large';

const unmatchedCount = async () => (await quarantined(app.eventStore)).length;

test('a success is recorded with all its fields, then the payer is redirected to the receipt', async (t) => {
  const id = await createPayment(app);
  const fields = signed(resultFields(id, { SURPRISE: 'kept' }));
  const response = await postResult(app, fields);
  t.deepEqual([response.status, response.headers.get('location')], [303, receiptUrl(id)]);
  const [{ at: _, ...event } = { at: '' }] = await results(id);
  t.deepEqual(event, {
    type: 'PaymentSucceeded',
    source: 'gateway',
    verified: true,
    receiptNo: 'R-1',
    late: false,
    result: {
      outcome: 'succeeded',
      mode: 'fpx',
      sellerOrderNo: `${id}-1`,
      gatewayTransactionId: 'P-1',
      amountSen: 12_050,
      currency: '',
      paidAt: '2026-11-20T01:04:30.000Z',
      receiptNo: 'R-1',
      buyerBank: 'Maybank2U',
    },
    personal: { plain: { buyerName: 'AMINAH BINTI ISMAIL' } },
    evidence: { plain: fields },
    orderNo: `${id}-1`,
    merchantCode: 'council',
    deliveries: [
      { key: 'callback-1', kind: 'callback', url: 'https://council.example/callback' },
      { key: 'email', kind: 'email' },
    ],
    postingRule: 3,
  });
});

for (const [status, type] of [
  ['0', 'PaymentFailed'],
  ['1', 'PaymentSucceeded'],
  ['2', 'PaymentCancelled'],
  ['3', 'PaymentPending'],
] as const) {
  test(`STATUS ${status} is ${type}`, async (t) => {
    const id = await createPayment(app);
    await postResult(app, signed(resultFields(id, { STATUS: status })));
    t.deepEqual(await typesOf(id), [type]);
  });
}

const multipart = (fields: Record<string, string>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};

const boundary = 'Boundary-7MA4YWxkTrZu0gW';
const urlencoded = 'application/x-www-form-urlencoded';
const json = 'application/json';
const jsonType = { 'content-type': json };

/** As some server libraries send it: every part with a type, an encoding and a length of its own. */
const typedMultipart = (fields: Record<string, string>) => {
  const part = ([name, value]: [string, string]) =>
    [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${name}"`,
      'Content-Type: text/plain; charset=UTF-8',
      'Content-Transfer-Encoding: 8bit',
      `Content-Length: ${Buffer.byteLength(value)}`,
      '',
      `${value}\r\n`,
    ].join('\r\n');
  return `${Object.entries(fields).map(part).join('')}--${boundary}--\r\n`;
};

const awkward = {
  BUYER_NAME: 'A&B=C%20D+E;F "ü" 陈 \u{1F600} !\'()*~ [x]=1',
  'X[0].y': 'brackets & dots = names',
  toString: 'a name that every object has',
  ÿ: 'é',
  EMPTY: '',
};

const encodings: Record<string, (fields: Record<string, string>) => [Body, Record<string, string>]> = {
  urlencoded: (fields) => [new URLSearchParams(fields), {}],
  multipart: (fields) => [multipart(fields), {}],
  'multipart with typed parts': (fields) => [
    typedMultipart(fields),
    { 'content-type': `multipart/form-data; boundary=${boundary}` },
  ],
  JSON: (fields) => [JSON.stringify(fields), jsonType],
  'JSON that is said to be in another charset': (fields) => [
    JSON.stringify(fields),
    { 'content-type': 'application/json; charset=iso-8859-1' },
  ],
};

for (const [encoding, encode] of Object.entries(encodings)) {
  test(`${encoding}: taken with awkward names and values, and refused when one of them changed`, async (t) => {
    const id = await createPayment(app);
    const fields = signed(resultFields(id, awkward));
    for (const forged of [
      { ...fields, AMOUNT: '120.5' },
      { ...fields, STATUS: '3' },
      { ...fields, EXTRA: '' },
      { ...fields, EMPTY: ' ' },
      { ...fields, BUYER_NAME: 'A' },
    ]) {
      t.is((await postResult(app, ...encode(forged))).status, 401);
    }
    t.deepEqual(await results(id), []);
    t.is((await postResult(app, ...encode(fields))).status, 303);
    t.deepEqual(
      (await results(id)).map(({ evidence }) => plain(evidence)),
      [fields],
    );
  });
}

/** As a gateway does that knows nothing of UTF-8. The apostrophe and the sign of the euro are not in ISO-8859-1. */
function singleByteForm(fields: Record<string, string>): string {
  const encoded = (text: string) =>
    text
      .replaceAll('’', '\u0092')
      .replaceAll('€', '\u0080')
      .replace(
        /[^A-Za-z0-9._~-]/g,
        (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
      );
  const pairs = Object.entries(fields).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  const checksum = createHmac('sha256', gatewaySecret).update(pairs.sort().join('&')).digest('hex');
  return [...pairs, `CHECKSUM=${checksum}`].join('&');
}

const formType = { 'content-type': urlencoded };

test('a form in Windows-1252 is verified over the bytes that were signed, and its letters are right', async (t) => {
  const id = await createPayment(app);
  const fields = resultFields(id, { BUYER_NAME: 'José Müller-D’Souza (ÿ€)', BUYER_BANK: 'A&B=100% *' });
  const form = singleByteForm(fields);
  t.true(form.includes('Jos%E9%20M%FCller'));
  for (const forged of [form.replace('Jos%E9', 'Jos%E8'), form.replace('STATUS=1', 'STATUS=0')])
    t.is((await postResult(app, forged, formType)).status, 401);
  t.is((await postResult(app, form, formType)).status, 303);
  const [paid] = await results(id);
  t.deepEqual(paid && plain(paid.personal), { buyerName: 'José Müller-D’Souza (ÿ€)' });
  t.like(paid && plain(paid.evidence), fields);
});

test('whatever bytes a name has, the result is verified over them', async (t) => {
  const id = await createPayment(app);
  const bytes = Array.from({ length: 128 }, (_, index) => String.fromCharCode(128 + index)).join('');
  const form = singleByteForm(resultFields(id, { BUYER_NAME: bytes }));
  t.true(form.includes('%80%81') && form.includes('%FE%FF'));
  t.is((await postResult(app, form, formType)).status, 303);
});

test('a signed form means one thing: neither encoding can be passed off as the other', async (t) => {
  const id = await createPayment(app);
  const { CHECKSUM = '', ...utf8 } = signed(resultFields(id, { BUYER_NAME: 'José' }));
  const passedOff = new URLSearchParams({ ...utf8, BUYER_NAME: 'JosÃ©', CHECKSUM });
  t.is((await postResult(app, passedOff)).status, 401);
  // U+0131 ends in the byte of a 1.
  const low = new URLSearchParams({ ...utf8, BUYER_NAME: 'José', STATUS: '\u0131', CHECKSUM });
  t.is((await postResult(app, low)).status, 401);
  const moved = singleByteForm(resultFields(id, { BUYER_NAME: 'é' })).replace(
    'BUYER_NAME=%E9',
    'BUYER_NAME=%C3%83%C2%A9',
  );
  t.is((await postResult(app, moved, formType)).status, 401);
  t.deepEqual(await results(id), []);
});

test('field names are read in any case', async (t) => {
  const id = await createPayment(app);
  const lower = Object.fromEntries(
    Object.entries(resultFields(id)).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const { CHECKSUM: checksum = '', ...fields } = signed(lower);
  t.is((await postResult(app, { ...fields, checksum })).status, 303);
  t.is((await results(id))[0]?.result.gatewayTransactionId, 'P-1');
});

test('a JSON number is taken as its text, and the checksum is over that text', async (t) => {
  const id = await createPayment(app);
  const fields = signed(
    resultFields(id, { STATUS: '1', AMOUNT: '120.50', PAYMENT_TRANS_ID: '12345678901234567890' }),
  );
  const numbers = (over: Record<string, string>) =>
    JSON.stringify({ ...fields, ...over }).replaceAll(/"(1|120\.50?|12345678901234567890)"/g, '$1');
  const post = (over: Record<string, string>) => postResult(app, numbers(over), jsonType);
  t.true(numbers({}).includes('"AMOUNT":120.50,'));
  t.is((await post({ AMOUNT: '120.5' })).status, 401, 'not what was signed');
  t.is((await post({})).status, 303);
  const [paid] = await results(id);
  t.is(paid?.type, 'PaymentSucceeded');
  t.is(paid?.result.gatewayTransactionId, '12345678901234567890');
  t.deepEqual(paid && plain(paid.evidence), fields);
});

test.serial(
  'a result of a payment whose events cannot be read is kept for staff and acknowledged',
  async (t) => {
    const id = await createPayment(app);
    const newer = { id: randomUUID(), type: 'PaymentTeleported', data: {}, metadata: { schemaVersion: 99 } };
    await app.eventStore.append(paymentStream(id), [newer], 0);
    const fields = signed(resultFields(id));
    const response = await postResult(app, fields);
    t.deepEqual([response.status, response.headers.get('location')], [303, receiptUrl(id)]);
    t.like(await app.lastUnmatched(), { reason: 'unreadable_payment', verified: true, raw: fields });
    t.is((await app.eventStore.load(paymentStream(id))).length, 2);
    t.is((await postResult(app, resultFields(id))).status, 401, 'but only if it is signed');
  },
);

const forgeries: Record<string, (fields: Record<string, string>) => Record<string, string>> = {
  'no checksum': (fields) => fields,
  'an empty one': (fields) => ({ ...fields, CHECKSUM: '' }),
  'one with another secret': (fields) => signed(fields, 'another secret'),
  'one in capitals': (fields) => ({ ...fields, CHECKSUM: signed(fields).CHECKSUM?.toUpperCase() ?? '' }),
  'one with a space': (fields) => ({ ...fields, CHECKSUM: `${signed(fields).CHECKSUM} ` }),
  // Joined without encoding, both would sign as NAME=A&STATUS=1.
  'a value that plays a field': ({ STATUS: _, ...fields }) => {
    const { CHECKSUM = '' } = signed({ ...fields, BUYER_NAME: 'A&STATUS=1' });
    return { ...fields, BUYER_NAME: 'A', STATUS: '1', CHECKSUM };
  },
};

for (const [title, forge] of Object.entries(forgeries)) {
  test(`forged: ${title}`, async (t) => {
    const id = await createPayment(app);
    const response = await postResult(app, forge(resultFields(id)));
    await isRefused(t, response, 401, 'CHECKSUM is missing or wrong');
    t.deepEqual(await results(id), []);
  });
}

test.serial('forged results leave nothing behind, not even in the quarantine', async (t) => {
  const before = await unmatchedCount();
  await postResult(app, resultFields('0'.repeat(26), { STATUS: 'x', MARK: 'forged' }));
  t.is(await unmatchedCount(), before);
});

test('where unsigned results are accepted, a missing checksum is marked and a wrong one still refused', async (t) => {
  const gateway = {
    url: 'https://gateway.example/',
    secret: 'own',
    otherSecrets: [],
    labelledFrom: null,
    acceptUnsigned: true,
  };
  const open = await startApp({ config: { gateway } }, app);
  try {
    const id = await createPayment(open);
    t.is((await postResult(open, { ...resultFields(id), CHECKSUM: 'x' })).status, 401);
    t.is((await postResult(open, { ...resultFields(id), checksum: '' })).status, 401);
    t.is((await postResult(open, { ...resultFields(id), STATUS: '' })).status, 401, 'no result');
    t.deepEqual(await results(id), []);
    t.is((await postResult(open, resultFields(id))).status, 303);
    t.is((await results(id))[0]?.verified, false);
  } finally {
    await open.close();
  }
});

test.serial(
  'a result for no payment, or another merchant’s, is kept apart and answered with 404',
  async (t) => {
    const id = await createPayment(app);
    for (const over of [
      { TRANS_ID: '0'.repeat(26) },
      { TRANS_ID: 'x'.repeat(5000) },
      { TRANS_ID: '' },
      { MERCHANT_CODE: 'museum' },
      { MERCHANT_CODE: '' },
    ]) {
      const fields = signed(resultFields(id, over));
      await isRefused(t, await postResult(app, fields), 404, 'Transaction not found');
      t.like(await app.lastUnmatched(), { reason: 'unknown_transaction', verified: true, raw: fields });
    }
    t.deepEqual(await results(id), []);
  },
);

/** The signed form with which a payer is handed over to the gateway, as the payer's browser gets it. */
async function handOverForm(id: string, bank: string): Promise<Record<string, string>> {
  const page = await (await fetch(`${app.url}/generic/pay/${id}`)).text();
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
  const body = new URLSearchParams({ token, method: 'fpx', bank_fpx: bank, again: '1' });
  const form = await (await fetch(`${app.url}/generic/pay/${id}`, { method: 'POST', body })).text();
  const fields = form.matchAll(/<input type="hidden" name="([A-Z_]+)" value="([^"]*)"/g);
  return Object.fromEntries(Array.from(fields, ([, name = '', value = '']) => [name, value]));
}

test.serial('1,000 posts of our own signed hand-over form leave no exception behind', async (t) => {
  const before = await unmatchedCount();
  const id = await createPayment(app, { description: 'STATUS=1', name: '1', email: '' });
  const forms = [await handOverForm(id, 'MB2U0227'), await handOverForm(id, 'BCBB0235')];
  for (const form of forms) {
    t.is(form.TRANS_ID, id);
    t.is(form.DIRECTION, 'request');
  }
  t.notDeepEqual(forms[0], forms[1]);
  for (let post = 0; post < 1_000; post += 1) {
    const response = await postResult(app, forms[post % 2] ?? {});
    t.is(response.status, 400);
    await response.arrayBuffer();
  }
  t.is((await postResult(app, { ...forms[0], STATUS: '1' })).status, 401, 'the checksum covers every field');
  t.is(await unmatchedCount(), before);
  t.deepEqual(await results(id), []);
});

test.serial('from the configured day on, only a message that is labelled as a result is one', async (t) => {
  const gateway = {
    url: 'https://gateway.example/',
    secret: gatewaySecret,
    acceptUnsigned: false,
    otherSecrets: [],
    labelledFrom: new Date('2027-01-01T00:00:00+08:00'),
  };
  let now = new Date('2026-12-31T23:59:59+08:00');
  const labelled = await startApp({ config: { gateway }, clock: () => now }, app);
  t.teardown(() => labelled.close());
  const before = await unmatchedCount();
  const post = async (id: string, over: Record<string, string>) =>
    (await postResult(labelled, signed(resultFields(id, { PAYMENT_TRANS_ID: id, RECEIPT_NO: '', ...over }))))
      .status;
  const [early, late] = [await createPayment(app), await createPayment(app)];
  t.is(await post(early, { DIRECTION: 'request' }), 303, 'a gateway may return every field that it got');
  now = new Date('2027-01-01T00:00:00+08:00');
  t.is(await post(late, {}), 401);
  t.is(await post(late, { DIRECTION: 'request' }), 401);
  t.deepEqual(await results(late), []);
  t.is(await post(late, { Direction: 'result' }), 303);
  t.is(await unmatchedCount(), before);
});

test('without any body, the checksum is missing', async (t) => {
  for (const channel of ['generic', 'landreg'])
    t.is((await fetch(`${app.url}/${channel}/response`, { method: 'POST' })).status, 401, channel);
});

test('a result may name the merchant by the id of the agency', async (t) => {
  const id = await createPayment(app);
  t.is((await postResult(app, signed(resultFields(id, { MERCHANT_CODE: '7' })))).status, 303);
  t.is((await results(id))[0]?.verified, true);
});

test.serial('a result without a STATUS is refused and not kept', async (t) => {
  const before = await unmatchedCount();
  const { STATUS: _, ...fields } = resultFields(await createPayment(app));
  for (const each of [fields, { ...fields, STATUS: '' }]) {
    const response = await postResult(app, signed(each));
    t.deepEqual(await response.json(), { status: false, message: 'STATUS is missing' });
  }
  t.is(await unmatchedCount(), before);
});

test.serial('a result with an unknown STATUS is quarantined and answered with 400', async (t) => {
  const id = await createPayment(app);
  for (const STATUS of ['4', '01', 'success', '1.0', 'constructor']) {
    const fields = signed(resultFields(id, { STATUS }));
    const response = await postResult(app, fields);
    t.is(response.status, 400, STATUS);
    t.deepEqual(await response.json(), { status: false, message: 'STATUS must be 0, 1, 2 or 3' });
    t.like(await app.lastUnmatched(), { reason: 'unreadable', raw: fields });
  }
  t.deepEqual(await results(id), []);
});

test.serial('a result that the quarantine has no room for is not acknowledged', async (t) => {
  const fields = (amount: string) => signed(resultFields('01ARZ3NDEKTSV4RRFFQ69G5FAV', { AMOUNT: amount }));
  t.is((await postResult(app, fields('1.00'))).status, 404);
  await addUnmatched(app.eventStore, 499);
  const before = await unmatchedCount();
  const response = await postResult(app, fields('2.00'));
  t.is(response.status, 503);
  t.deepEqual(await response.json(), {
    status: false,
    message: 'Too many results of this transaction are in quarantine',
  });
  t.is((await postResult(app, fields('1.00'))).status, 404);
  t.is(await unmatchedCount(), before);
});

const unreadable: Record<string, [Body, string, number, string]> = {
  'a field sent twice': ['STATUS=1&STATUS=0', urlencoded, 400, onceEach],
  'a field sent in two cases': ['STATUS=1&status=0', urlencoded, 400, 'A field was sent twice'],
  'a JSON field sent twice': ['{"STATUS":"0","AMOUNT":"\\":", "STATUS" : "1"}', json, 400, onceEach],
  'a part sent twice': [
    typedMultipart({ STATUS: '1' }).replace(/--\r\n$/, '\r\n') +
      typedMultipart({ STATUS: '0' }).slice(boundary.length + 4),
    `multipart/form-data; boundary=${boundary}`,
    400,
    onceEach,
  ],
  'a JSON list': ['[1]', json, 400, 'The body must be a form or a JSON object'],
  'a JSON object within': ['{"STATUS":{"a":1}}', json, 400, onceEach],
  'a JSON truth value': ['{"STATUS":true}', json, 400, onceEach],
  'half a character': ['{"STATUS":"\\ud800"}', json, 400, onceEach],
  'half a character as a name': ['{"\\ud800":"1"}', json, 400, onceEach],
  'malformed JSON': ['{', json, 400, malformed],
  'multipart without a boundary': ['x', 'multipart/form-data', 400, malformed],
  'multipart that stops': [
    '--b\r\nContent-Disposition: form-data; name="A"\r\n\r\nx',
    'multipart/form-data; boundary=b',
    400,
    malformed,
  ],
  'a form of 1 MiB': [`A=${'x'.repeat(2 ** 20)}`, urlencoded, 413, tooLarge],
  'multipart of 1 MiB': [
    `--b\r\nContent-Disposition: form-data; name="A"\r\n\r\n${'x'.repeat(2 ** 20)}\r\n--b--\r\n`,
    'multipart/form-data; boundary=b',
    413,
    tooLarge,
  ],
  XML: [
    '<STATUS>1</STATUS>',
    'application/xml',
    415,
    'The Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
  ],
};

for (const [title, [body, type, status, message]] of Object.entries(unreadable)) {
  test(`bad input: ${title}`, async (t) => {
    await isRefused(t, await postResult(app, body, { 'content-type': type }), status, message);
  });
}

test('a payer who comes back with an answer that cannot be used is told not to pay again', async (t) => {
  const id = await createPayment(app);
  const cases: [number, Record<string, string>][] = [
    [401, { ...resultFields(id), CHECKSUM: 'wrong' }],
    [404, signed(resultFields('0'.repeat(26)))],
    [400, signed({ ...resultFields(id), STATUS: '9' })],
  ];
  for (const [status, fields] of cases) {
    const response = await postResult(app, fields, { accept: 'text/html' });
    t.is(response.status, status);
    t.regex(await response.text(), /Do not pay again yet/);
  }
});

test('a time before this century is none: the payment has the time at which it was recorded', async (t) => {
  const id = await createPayment(app);
  await postResult(app, signed({ ...resultFields(id), PAYMENT_DATETIME: '1970-01-01 08:00:00' }));
  const [event] = await results(id);
  t.like(event, { type: 'PaymentSucceeded', result: { paidAt: null } });
});

test('a signed result with hundreds of fields is recorded; junk with more is refused before it is verified', async (t) => {
  const id = await createPayment(app);
  const more = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`MORE_${index}`, 'x']));
  const response = await postResult(app, signed({ ...resultFields(id), ...more(900) }));
  t.is(response.status, 303);
  t.deepEqual(await typesOf(id), ['PaymentSucceeded']);
  const junk = await postResult(app, JSON.stringify(more(1_001)), jsonType);
  await isRefused(t, junk, 400, 'A result must have at most 999 fields');
});

test('files are refused', async (t) => {
  const id = await createPayment(app);
  const form = multipart(signed(resultFields(id)));
  form.append('UPLOAD', new Blob(['x'.repeat(1000)]), 'upload.txt');
  await isRefused(t, await postResult(app, form), 400, 'Files are not taken');
  t.deepEqual(await results(id), []);
});

test('a file that is announced as too large is refused before it is sent', async (t) => {
  const sending = request(`${app.url}/generic/response`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 80 * 2 ** 20 },
  });
  sending.flushHeaders();
  const [response] = await once(sending, 'response');
  t.is(response.statusCode, 413);
  sending.on('error', () => undefined).destroy();
});

test('a file of unknown length is refused before it has been sent', async (t) => {
  const sending = request(`${app.url}/generic/response`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  sending.write('--b\r\nContent-Disposition: form-data; name="A"; filename="a"\r\n\r\n');
  sending.write('x'.repeat(2 ** 17));
  // It is never ended.
  const [response] = await once(sending, 'response');
  t.is(response.statusCode, 413);
  sending.on('error', () => undefined).destroy();
});

test('a browser gets an error page', async (t) => {
  const response = await postResult(app, resultFields('0'.repeat(26)), {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  });
  t.is(response.status, 401);
  t.regex(response.headers.get('content-type') ?? '', /^text\/html/);
});

test('the same result from browser and server, 20 times at once, is one event and one redirect', async (t) => {
  const id = await createPayment(app);
  const fields = signed(resultFields(id));
  const answers = await Promise.all(Array.from({ length: 20 }, () => postResult(app, fields)));
  t.deepEqual([...new Set(answers.map((answer) => answer.headers.get('location')))], [receiptUrl(id)]);
  t.is((await results(id)).length, 1);
});

test('two different results at once make one success', async (t) => {
  const id = await createPayment(app);
  const posts = ['0', '1', '2', '1', '3'].map((STATUS) =>
    postResult(app, signed(resultFields(id, { STATUS }))),
  );
  t.deepEqual([...new Set((await Promise.all(posts)).map(({ status }) => status))], [303]);
  const types = await typesOf(id);
  t.is(types.filter((type) => type === 'PaymentSucceeded').length, 1);
});

test('an amount that cannot be read never pays', async (t) => {
  for (const AMOUNT of ['120.51', '120,50', '1,20.50', '', 'free', '-120.50', '12050']) {
    const id = await createPayment(app);
    t.is((await postResult(app, signed(resultFields(id, { AMOUNT })))).status, 303);
    t.deepEqual(await typesOf(id), ['AmountMismatchDetected'], AMOUNT);
  }
});

test('control characters and very long texts stay in the raw fields only', async (t) => {
  const id = await createPayment(app);
  const BUYER_NAME = `A\0B\r\nC${'𠮷'.repeat(300)}`;
  await postResult(app, signed(resultFields(id, { BUYER_NAME })));
  const [result] = await results(id);
  t.is(result && plain(result.personal).buyerName, `A B C${'𠮷'.repeat(195)}`);
  t.is(result && plain(result.evidence).BUYER_NAME, BUYER_NAME);
});

test('a receipt number that is not plain is replaced by ours, and the payment is paid', async (t) => {
  for (const RECEIPT_NO of ['9'.repeat(20_000), 'R\u202e1', '../../etc/"\'<script>']) {
    const id = await createPayment(app);
    t.is((await postResult(app, signed(resultFields(id, { RECEIPT_NO })))).status, 303);
    const [event] = await results(id);
    if (!event || !('receiptNo' in event)) return t.fail();
    t.regex(event.receiptNo, /^7-20261120-[0-9A-Z]{16}$/);
    t.is(event.result.receiptNo, '');
    t.is(plain(event.evidence).RECEIPT_NO, RECEIPT_NO);
  }
});

test('while the event store is down the answer is 503, never a redirect', async (t) => {
  const unavailable = () => Promise.reject(new EventStoreUnavailable('down'));
  const down = await startApp({ eventStore: { append: unavailable } }, app);
  try {
    const id = await createPayment(app);
    const response = await postResult(down, signed(resultFields(id)));
    t.is(response.status, 503);
    t.is(response.headers.get('retry-after'), '5');
    t.is(response.headers.get('location'), null);
  } finally {
    await down.close();
  }
});
