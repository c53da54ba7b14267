// `ctx.render('payment.njk', model)`: the templates of views/, through koa-views, with our own nunjucks environment.
// (koa-views' default engine compiles a template at every render and takes some locals as engine options.)
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from '@ledger/kernel/format.ts';
import { SafeString } from '@ledger/web/templates.ts';
import type { Middleware } from 'koa';
import koaViews from 'koa-views';
import type { Language } from '../../common/languages.ts';
import { toDateTime } from '../../common/malaysian-time.ts';
import { displaySen, signedSen } from '../../common/money.ts';
import { createTemplates } from '../../common/templates.ts';
import { script, style } from './inline-style.ts';

const folder = fileURLToPath(new URL('../../../views/', import.meta.url));

/**
 * Koa middleware that gives `ctx.render(name, model)` for the templates in views/. A template sees its model, and as
 * `t` the texts in the model's language; it throws if it refers to something its model lacks. Name it with its
 * extension (`payment.njk`), so that koa-views looks on disk once and not twice. `footer` has the addresses of the links
 * at the foot of every page, by the names of their texts.
 */
export const createViews = (
  texts: Readonly<Record<Language, object>>,
  footer: Readonly<Record<string, string>>,
): Middleware => {
  const environment = createTemplates();
  environment.addFilter('money', displaySen);
  environment.addFilter('signed', (sen: bigint) => `RM ${signedSen(sen)}`);
  environment.addFilter('time', toDateTime);
  environment.addFilter('format', format);
  environment.addFilter('thousands', (count: number) => count.toLocaleString('en'));
  environment.addGlobal('style', new SafeString(style));
  environment.addGlobal('script', new SafeString(script));
  environment.addGlobal('drawnOnce', createDrawnOnce(environment, texts));
  environment.addGlobal(
    'footer',
    Object.entries(footer).filter(([, address]) => address !== ''),
  );

  // Bytes, because Koa would encode a text twice: once to count the bytes and once to send them.
  const render = async (file: string, model: { lang: Language }) =>
    Buffer.from(environment.render(relative(folder, file), { ...model, t: texts[model.lang] }));

  return koaViews(folder, { extension: 'njk', engineSource: { njk: render } });
};

/**
 * `drawnOnce(template, list, lang)` renders a template for a list of the configuration, which it sees as `list`, and
 * keeps the result as long as the list exists. Rendering the lists of banks was most of the cost of a payment page.
 */
function createDrawnOnce(
  environment: ReturnType<typeof createTemplates>,
  texts: Readonly<Record<Language, object>>,
) {
  const kept = { en: new WeakMap<object, string>(), ms: new WeakMap<object, string>() };
  return (template: string, list: object, lang: Language) => {
    const drawn = kept[lang].get(list) ?? environment.render(template, { list, t: texts[lang] });
    kept[lang].set(list, drawn);
    return new SafeString(drawn);
  };
}
