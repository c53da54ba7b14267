import test from 'ava';
import { type Language, pickLanguage } from '../../../src/http/server/language.ts';

const cases: { lang: string | string[] | undefined; header: string | undefined; expected: Language }[] = [
  { lang: 'ms', header: 'en', expected: 'ms' },
  { lang: 'en', header: 'ms', expected: 'en' },
  { lang: undefined, header: undefined, expected: 'en' },
  { lang: undefined, header: 'ms-MY,ms;q=0.9,en;q=0.8', expected: 'ms' },
  { lang: undefined, header: 'en-GB, ms;q=0.9', expected: 'en' },
  { lang: undefined, header: 'en;q=0.2, MS ; Q=0.3', expected: 'ms' },
  { lang: undefined, header: 'ms,en', expected: 'ms' },
  { lang: undefined, header: 'ms;q=0', expected: 'en' },
  { lang: undefined, header: 'zh-Hans,ta;q=0.9,ms;q=0.1', expected: 'ms' },
  { lang: undefined, header: 'msx,xms,*', expected: 'en' },
  { lang: undefined, header: ';;,,q=1,ms;q=high', expected: 'en' },
  { lang: 'fr', header: 'ms', expected: 'ms' },
  { lang: ['en', 'en'], header: 'ms', expected: 'ms' },
  { lang: 'constructor', header: '__proto__', expected: 'en' },
];

for (const { lang, header, expected } of cases) {
  test(`?lang=${lang} with Accept-Language: ${header} is ${expected}`, (t) => {
    t.is(pickLanguage(lang, header), expected);
  });
}
