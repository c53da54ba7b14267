import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import test from 'ava';
import Koa from 'koa';
import { type Context, languageOf } from '../../../src/http/server/context.ts';
import type { Language } from '../../../src/receipts/texts.ts';

/** The language of a page that is requested with this query and Accept-Language header. */
function languageFor(query: string, header: string | undefined): Language {
  const request = new IncomingMessage(new Socket());
  request.url = `/${query}`;
  if (header !== undefined) request.headers['accept-language'] = header;
  return languageOf(new Koa().createContext(request, new ServerResponse(request)) as unknown as Context);
}

const cases: { query: string; header: string | undefined; expected: Language }[] = [
  { query: '?lang=ms', header: 'en', expected: 'ms' },
  { query: '?lang=en', header: 'ms', expected: 'en' },
  { query: '', header: undefined, expected: 'en' },
  { query: '', header: 'ms-MY,ms;q=0.9,en;q=0.8', expected: 'ms' },
  { query: '', header: 'en-GB, ms;q=0.9', expected: 'en' },
  { query: '', header: 'en;q=0.2, MS ; Q=0.3', expected: 'ms' },
  { query: '', header: 'ms,en', expected: 'ms' },
  { query: '', header: 'ms;q=0', expected: 'en' },
  { query: '', header: 'zh-Hans,ta;q=0.9,ms;q=0.1', expected: 'ms' },
  { query: '', header: 'msx,xms,*', expected: 'en' },
  { query: '', header: ';;,,q=1,ms;q=high', expected: 'en' },
  { query: '?lang=fr', header: 'ms', expected: 'ms' },
  { query: '?lang=en&lang=en', header: 'ms', expected: 'ms' },
  { query: '?lang=constructor', header: '__proto__', expected: 'en' },
];

for (const { query, header, expected } of cases) {
  test(`${query} with Accept-Language: ${header} is ${expected}`, (t) => {
    t.is(languageFor(query, header), expected);
  });
}
