// GET /generic/check: who a merchant is, from headers and body, with the documented messages.
import { request } from 'node:http';
import test from 'ava';
import { apiKey, startApp } from '../../support/app.ts';

const app = await startApp({ clock: () => new Date('2026-11-20T01:02:03.000Z') });
test.after.always(() => app.close());

type Sent = { headers?: Record<string, string>; body?: string; path?: string };

/** fetch sends no body with GET. */
function check({ headers = {}, body = '', path = '/generic/check' }: Sent) {
  return new Promise<{ status: number | undefined; answer: unknown }>((resolve, reject) => {
    const length = body ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const sending = request(
      app.url + path,
      { method: 'GET', headers: { ...headers, ...length } },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, answer: JSON.parse(text) }));
      },
    );
    sending.on('error', reject);
    sending.end(body);
  });
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const bearer = { authorization: `Bearer ${apiKey}` };
const code = { 'x-merchant-code': 'council' };

const accepted: Record<string, Sent> = {
  'both in headers': { headers: { ...bearer, ...code } },
  'both in a JSON body': {
    headers: json,
    body: JSON.stringify({ merchant_code: 'council', api_key: apiKey }),
  },
  'a charset that is UTF-8 by another name': {
    headers: { 'content-type': 'application/json; charset="utf8"' },
    body: JSON.stringify({ merchant_code: 'council', api_key: apiKey }),
  },
  'both in a form': { headers: form, body: `merchant_code=council&api_key=${apiKey}` },
  'a body without Content-Type, which is optional': {
    body: JSON.stringify({ merchant_code: 'council', api_key: apiKey }),
  },
  'one in a header, one in the body': {
    headers: { ...bearer, ...json },
    body: '{"merchant_code":"council"}',
  },
  'the same in both': {
    headers: { ...bearer, ...code, ...json },
    body: JSON.stringify({ merchant_code: 'council', api_key: apiKey }),
  },
  'the id of the agency': { headers: { ...bearer, 'x-merchant-code': '7' } },
  'the id in a header, the code in the body': {
    headers: { ...bearer, ...json, 'x-merchant-code': '7' },
    body: '{"merchant_code":"council"}',
  },
  'the scheme in another case': { headers: { authorization: `bearer ${apiKey}`, ...code } },
  'an empty JSON body': { headers: { ...bearer, ...code, ...json }, body: '{}' },
};

for (const [title, sent] of Object.entries(accepted)) {
  test(`accepts ${title}`, async (t) => {
    t.deepEqual(await check(sent), {
      status: 200,
      answer: {
        status: true,
        message: 'Connection successful',
        data: { merchant_code: 'council', timestamp: '2026-11-20T09:02:03+08:00', environment: 'test' },
      },
    });
  });
}

const missing = 'Missing merchant_code or API key';
const unregistered = 'Merchant code not registered';
const invalid = 'Unauthorized - invalid API key for merchant';

const refused: Record<string, [Sent, string]> = {
  'nothing at all': [{}, missing],
  'no key': [{ headers: code }, missing],
  'no code': [{ headers: bearer }, missing],
  'an empty key': [{ headers: { ...code, authorization: 'Bearer ' } }, missing],
  'another scheme': [{ headers: { ...code, authorization: `Basic ${apiKey}` } }, missing],
  'credentials in the query': [{ path: `/generic/check?merchant_code=council&api_key=${apiKey}` }, missing],
  'a code that is no text': [
    { headers: { ...bearer, ...json }, body: '{"merchant_code":["council"]}' },
    missing,
  ],
  'a key that is no text': [{ headers: { ...code, ...json }, body: '{"api_key":{"a":1}}' }, missing],
  'an unknown merchant': [{ headers: { ...bearer, 'x-merchant-code': 'nobody' } }, unregistered],
  'a name every object has': [{ headers: { ...bearer, 'x-merchant-code': 'constructor' } }, unregistered],
  'a wrong key': [{ headers: { ...code, authorization: 'Bearer wrong' } }, invalid],
  'the key of another merchant': [{ headers: { ...bearer, 'x-merchant-code': 'museum' } }, invalid],
  'the stored hash as key': [
    { headers: { 'x-merchant-code': 'museum', authorization: `Bearer sha256:${'0'.repeat(64)}` } },
    invalid,
  ],
  'the right key in the header, another in the body': [
    { headers: { ...code, ...bearer, ...json }, body: '{"api_key":"other"}' },
    invalid,
  ],
  'the right key in the body, another in the header': [
    {
      headers: { ...code, ...json, authorization: 'Bearer other' },
      body: JSON.stringify({ api_key: apiKey }),
    },
    invalid,
  ],
  'the right code in the header, another in the body': [
    { headers: { ...code, ...bearer, ...json }, body: '{"merchant_code":"museum"}' },
    invalid,
  ],
  'the right code in the body, another in the header': [
    {
      headers: { ...bearer, ...json, 'x-merchant-code': 'museum' },
      body: '{"merchant_code":"council"}',
    },
    invalid,
  ],
};

for (const [title, [sent, message]] of Object.entries(refused)) {
  test(`refuses ${title}`, async (t) => {
    t.deepEqual(await check(sent), { status: 401, answer: { status: false, message } });
  });
}

for (const key of ['older-key', 'newer-key-of-museum']) {
  test(`accepts each of a merchant's keys, plain or hashed: ${key}`, async (t) => {
    const { status } = await check({
      headers: { 'x-merchant-code': 'museum', authorization: `Bearer ${key}` },
    });
    t.is(status, 200);
  });
}
