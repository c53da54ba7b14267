// `ctx.render('payment.njk', model)`: the templates of views/, through koa-views, with our own nunjucks environment.
// (koa-views' default engine compiles a template at every render and takes some locals as engine options.)
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from '@ledger/kernel/format.ts';
import { escapeHtml, SafeString } from '@ledger/web/templates.ts';
import type { Middleware } from 'koa';
import koaViews from 'koa-views';
import type { Language } from '../../common/languages.ts';
import { toDateTime } from '../../common/malaysian-time.ts';
import { displaySen, signedSen } from '../../common/money.ts';
import { phrase } from '../../common/phrases.ts';
import { createTemplates } from '../../common/templates.ts';
import { script, style } from './inline-style.ts';

const folder = fileURLToPath(new URL('../../../views/', import.meta.url));

/**
 * Koa middleware that gives `ctx.render(name, model)` for the templates in views/, named with their extension, so that
 * koa-views looks on disk once. A template sees its model, `texts` in the model's language and the links of `footer`.
 */
export const createViews = (
  texts: Readonly<Record<string, Readonly<Record<Language, object>>>>,
  footer: Readonly<Record<string, string>>,
): Middleware => {
  const links = Object.entries(footer).filter(([, address]) => address !== '');
  const environmentIn = (lang: Language) => {
    const environment = createTemplates();
    environment.addFilter('money', displaySen);
    environment.addFilter('signed', (sen: bigint) => `RM ${signedSen(sen)}`);
    // An amount in a sentence stays on one line.
    environment.addFilter('unbroken', (text: string) => text.replaceAll('RM ', 'RM\u00a0'));
    environment.addFilter('time', toDateTime);
    environment.addFilter('times', (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, toDateTime));
    environment.addFilter('format', format);
    environment.addFilter('thousands', (count: number) => count.toLocaleString('en'));
    environment.addFilter('t', createSay(lang));
    environment.addGlobal('style', new SafeString(style));
    environment.addGlobal('script', new SafeString(script));
    environment.addGlobal('footer', links);
    for (const [name, each] of Object.entries(texts)) environment.addGlobal(name, each[lang]);
    return environment;
  };
  const environments = { en: environmentIn('en'), ms: environmentIn('ms') };

  // Bytes, because Koa would encode a text twice: once to count the bytes and once to send them.
  const render = async (file: string, model: { lang: Language }) =>
    Buffer.from(environments[model.lang].render(relative(folder, file), model));

  return koaViews(folder, { extension: 'njk', engineSource: { njk: render } });
};

/** `{{ "Found by {name}" | t({ name: … }) }}`: a sentence of the console, with values that may be elements of the page. */
function createSay(lang: Language) {
  return (text: string, values?: Readonly<Record<string, unknown>>) => {
    if (!values) return phrase(lang, text);
    const escaped = Object.entries(values).map(([name, value]) => [
      name,
      value instanceof SafeString ? value : escapeHtml(String(value)),
    ]);
    return new SafeString(format(escapeHtml(phrase(lang, text)), Object.fromEntries(escaped)));
  };
}
