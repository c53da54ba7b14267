// A kept page is byte for byte the page that the template would draw, whatever its texts are.
import test from 'ava';
import fc from 'fast-check';
import type { Middleware } from 'koa';
import { drawKept } from '../../../src/http/pay/kept-page.ts';
import { texts as words } from '../../../src/http/pay/texts.ts';
import type { Context } from '../../../src/http/server/context.ts';
import { createViews } from '../../../src/http/server/views.ts';
import { anyText } from '../../support/any-text.ts';
import { paymentPage } from './models.ts';

const views = createViews({ t: words }, {});

async function draw(page: (ctx: Context) => Promise<void>): Promise<{ type: string; html: string }> {
  const ctx = { state: {}, response: {} } as Context;
  await views(ctx as Parameters<Middleware>[0], async () => {});
  await page(ctx);
  return { type: ctx.type.replace('text/html', 'html'), html: String(ctx.body) };
}

const {
  otherLanguageUrl,
  action,
  token,
  amount,
  agency,
  service,
  description,
  reference,
  payerName,
  receiptUrl,
  ...rest
} = paymentPage;
const usual = {
  otherLanguageUrl,
  action,
  token,
  amount,
  agency,
  service,
  description,
  reference,
  payerName,
  receiptUrl,
};

const text = fc.oneof(
  fc.constantFrom(
    '',
    '<b>&"\'\\',
    '\ue000token\ue000',
    '\ue000',
    '{{ token }}',
    '$&$1',
    '馬來西亞 😀',
    '__proto__',
  ),
  anyText(),
);

test('a kept page is the page that the template draws', async (t) => {
  const settings = {};
  const modelsOf = [
    { ...rest, lang: 'en' },
    { ...rest, lang: 'ms', methods: rest.methods.slice(0, 2) },
  ];
  let drawn = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record(Object.fromEntries(Object.keys(usual).map((name) => [name, text]))),
      fc.nat(1),
      async (changes, which) => {
        const texts = { ...usual, ...changes };
        const model = () => {
          drawn += 1;
          return modelsOf[which] ?? {};
        };
        const shape = String(which);
        const kept = await draw((ctx) => drawKept(ctx, 'payment.njk', { settings, shape, texts, model }));
        t.deepEqual(kept, await draw((ctx) => ctx.render('payment.njk', { ...modelsOf[which], ...texts })));
      },
    ),
    { numRuns: 60 },
  );
  t.true(drawn < 60);
});

test('pages of other settings, shapes and templates are drawn anew', async (t) => {
  const settings = {};
  const pages = [
    ['payment.njk', 'a', settings],
    ['payment.njk', 'b', settings],
    ['payment.njk', 'a', {}],
    ['hand-over.njk', 'a', settings],
  ] as const;
  for (const [template, shape, of] of pages) {
    const models: object[] = [];
    const model = () => {
      models.push(rest);
      return { ...rest, fields: [], method: '', bank: '' };
    };
    for (const each of [token, 'another'])
      await draw((ctx) =>
        drawKept(ctx, template, { settings: of, shape, texts: { ...usual, token: each }, model }),
      );
    t.is(models.length, 1);
  }
});
