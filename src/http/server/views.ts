// `ctx.render('payment', model)`: the templates of views/, through koa-views, with our own nunjucks environment.
// (koa-views' default engine compiles a template at every render and takes some locals as engine options.)
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Middleware } from 'koa';
import koaViews from 'koa-views';
import nunjucks from 'nunjucks';
import { toDateTime } from '../../kernel/malaysian-time.ts';
import { displaySen } from '../../kernel/money.ts';
import type {
  BankOption,
  DebugPage,
  ErrorPage,
  HandOverPage,
  HomePage,
  PaymentPage,
  ReceiptPage,
  SimulatePage,
  VerifyPage,
} from '../pay/models.ts';
import { texts } from '../pay/texts.ts';
import { script, style } from './inline-style.ts';

type Page =
  | PaymentPage
  | HandOverPage
  | ReceiptPage
  | VerifyPage
  | ErrorPage
  | HomePage
  | DebugPage
  | SimulatePage;

const folder = fileURLToPath(new URL('../../../views/', import.meta.url));

/**
 * Koa middleware that gives `ctx.render(name, model)` for the templates in views/, each with its model from
 * models.ts. A template that refers to what its model lacks throws, rather than showing a page with a hole.
 * Name it with its extension (`payment.njk`): koa-views then asks the disk once and not twice.
 */
export const createViews = (): Middleware => {
  const environment = new nunjucks.Environment(new nunjucks.FileSystemLoader(folder), {
    autoescape: true,
    throwOnUndefined: true,
    trimBlocks: true,
    lstripBlocks: true,
  });
  environment.addFilter('money', displaySen);
  environment.addFilter('time', toDateTime);
  environment.addGlobal('style', new nunjucks.runtime.SafeString(style));
  environment.addGlobal('script', new nunjucks.runtime.SafeString(script));
  environment.addGlobal('bankOptions', createBankOptions(environment));

  // Bytes, because Koa would encode a text twice: to count them and to send them.
  const render = async (file: string, page: Page) =>
    Buffer.from(environment.render(relative(folder, file), { ...page, t: texts[page.lang] }));

  return koaViews(folder, { extension: 'njk', engineSource: { njk: render } });
};

/**
 * The drawn options of a bank list. Lists are configuration, the same on every page, and drawing them was most of
 * what a payment page cost: those without a choice, as on every first page, are kept for as long as their list is.
 */
function createBankOptions(environment: nunjucks.Environment) {
  const kept = new WeakMap<readonly BankOption[], nunjucks.runtime.SafeString>();
  const draw = (banks: readonly BankOption[], chosen: string) =>
    new nunjucks.runtime.SafeString(environment.render('bank-options.njk', { banks, chosen }));
  return (banks: readonly BankOption[], chosen = '') => {
    if (chosen !== '') return draw(banks, chosen);
    const options = kept.get(banks) ?? draw(banks, chosen);
    kept.set(banks, options);
    return options;
  };
}
