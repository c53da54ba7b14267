// What no HTTP client would send: each kind makes the bytes of one connection.
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Bytes } from '../support/http-client.ts';
import type { Chance } from './chance.ts';
import { oddTexts } from './values.ts';

const paths =
  '/ /generic/request /landreg/request /generic/response /generic/pay/0 /generic/check /api/v1/users /api/v1/health \
/openapi.json /docs /docs/search /verify/R-1 /console/sign-in /console'.split(' ');

const head = (method: string, path: string, headers: readonly string[] = []) =>
  `${[`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;
const get = (path: string, headers?: readonly string[]): Bytes => ({ parts: [head('GET', path, headers)] });

const authorized = ['Authorization: Bearer demo-key', 'X-Merchant-Code: demo-app'];
const post = (...headers: string[]) =>
  head('POST', '/generic/request', [...authorized, 'Content-Type: application/json', ...headers]);
const length = (bytes: number | string) => `Content-Length: ${bytes}`;
const body = '{"trans_id":"RAW","amount":"1.00"}';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunked = 'Transfer-Encoding: chunked';

const zeros = Buffer.alloc(1_000_000);
const bombs = { br: brotliCompressSync(zeros), gzip: gzipSync(zeros) };

export const raws: Readonly<Record<string, (chance: Chance) => Bytes>> = {
  'long query': (chance) => {
    const parameter = chance.pick('& a& a=1& a[b]=1& %00& =& lang=en& %zz&'.split(' '));
    return get(`${chance.pick(paths)}?${parameter.repeat(chance.pick([49, 51, 500, 2_000, 8_000]))}`);
  },
  'odd path': (chance) => {
    const odd = '%F0%9F%92%A9 ;a=b [] {} | " é \xff\xfe :id * .well-known/x'.split(' ');
    const part = chance.pick([...oddTexts, ...odd, 'a'.repeat(3_000), '%25'.repeat(500), '../'.repeat(500)]);
    return get(`${chance.pick([...paths, '/generic/receipt', '/landreg/pay'])}/${part}`);
  },
  'content encoding': (chance) => {
    const encoding = chance.pick(['br', 'gzip', 'deflate', 'zstd', 'identity', 'gzip, br', 'chunked', '']);
    const bytes = bombs[chance.pick(['br', 'gzip'] as const)];
    return { parts: [post(length(bytes.length), `Content-Encoding: ${encoding}`), bytes] };
  },
  slow: () => ({ parts: `${post(length(34))}${body}`.match(/.{1,9}/gs) ?? [], pauseMs: 5 }),
  cut: (chance) => {
    const whole = `${post(length(34))}${body}`;
    return { parts: [whole.slice(0, chance.below(whole.length))], end: chance.pick(['cut', 'half']) };
  },
  'answer not read': (chance) => ({ parts: [head('GET', chance.pick(paths)).repeat(20)], end: 'cut' }),
  'wrong length': (chance) => {
    const wrong = chance.pick('0|5|1000|-1|+34|0x22|1e1|abc||99999999999999999999|34, 35| 34'.split('|'));
    return { parts: [post(length(wrong)), body], end: 'half' };
  },
  'deep json': (chance) => {
    const depth = chance.pick([100, 5_000, 10_000]);
    const [open, close] = chance.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    const deep = `{"extra":${open.repeat(depth)}1${close.repeat(depth)}}`;
    return { parts: [post(length(deep.length)), deep] };
  },
  'header flood': (chance) => {
    const many = Array.from({ length: chance.pick([100, 3_000]) }, (_, index) => `X-${index % 50}: 1`);
    const cookie = `Cookie: ${chance.pick(['a=b; ', ';', 'session=%00;']).repeat(chance.pick([500, 20_000]))}`;
    const odd = ['A:', ': b', 'A b: c', 'X: a\r\n b', 'X: \0', 'X: \x80', 'Host: other', '__proto__: 1'];
    const headers = chance.pick([many, [cookie], [chance.pick(odd)], ['Accept: '.padEnd(7_000, 'a/b,')]]);
    return get(chance.pick(paths), headers);
  },
  'two lengths': (chance) => {
    const headers = [length(34), length(0), chunked, 'Transfer-Encoding: identity', `${chunked}, x`];
    const two = post(chance.pick(headers), chance.pick(headers));
    return { parts: [two, chunk(body), chunk('')], end: 'half' };
  },
  chunks: (chance) => {
    const chunks = chance.pick([
      [...body].map(chunk).join('') + chunk(''),
      `ffffffffffffffff\r\n${body}\r\n`,
      `-1\r\n${body}\r\n`,
      `22;${'a=b;'.repeat(5_000)}\r\n${body}\r\n${chunk('')}`,
      `${chunk(body)}0\r\n${'X-Trailer: 1\r\n'.repeat(100)}\r\n`,
      chunk('x'.repeat(70_000)) + chunk(''),
    ]);
    return { parts: [post(chunked), chunks], end: 'half' };
  },
  pipelining: (chance) => {
    const answers = chance.pick([2, 10, 20]);
    const one = chance.pick([head('GET', chance.pick(paths)), post(length(34)) + body]);
    return { parts: [one.repeat(answers)], answers };
  },
  'odd method': (chance) => {
    const methods = 'HEAD PUT PATCH DELETE OPTIONS TRACE CONNECT PROPFIND M-SEARCH get FOO'.split(' ');
    const target = chance.pick([...paths, '*', 'http://other.example/', 'localhost:1']);
    return { parts: [head(chance.pick(methods), target)], end: 'half' };
  },
  'other protocol': (chance) => {
    const lines = 'GET /|GET / HTTP/0.9|GET / HTTP/1.0|GET / HTTP/1.1|PRI * HTTP/2.0|EHLO a|\x16\x03\x01';
    return { parts: [chance.pick([...lines.split('|'), chance.bytes(300)]), '\r\n\r\n'], end: 'half' };
  },
  expectations: (chance) => {
    const expected = ['Expect: 100-continue', 'Expect: 200-ok', 'Upgrade: websocket', 'Upgrade: h2c'];
    return { parts: [post(length(34), 'Connection: Upgrade', chance.pick(expected)), body] };
  },
};
