/** The sandbox's pages and forms. Their design differs from the service's, so that nobody mistakes them for it. */
import { fileURLToPath } from 'node:url';
import type { Context } from 'koa';
import koaBody from 'koa-body';
import nunjucks from 'nunjucks';
import { bankName, malaysianTime, ringgit } from './result-fields.ts';

const environment = new nunjucks.Environment(
  new nunjucks.FileSystemLoader(fileURLToPath(new URL('./views', import.meta.url))),
  { autoescape: true, throwOnUndefined: true },
);
environment.addGlobal('bankName', bankName);
environment.addFilter('time', malaysianTime);
environment.addFilter('rm', (amountSen: number) => ringgit(amountSen).replace(/\B(?=(\d{3})+\.)/g, ','));

type PageName = 'orders' | 'order' | 'return' | 'mailbox' | 'email' | 'merchant' | 'land-registry' | 'error';

/** The policy of every page: nothing is loaded. */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/** The HTML of a page; every value in `locals` is escaped. */
export function page(name: PageName, locals: object): string {
  return environment.render(`${name}.html`, locals);
}

/** Reads the form of a page on which one chooses something. */
export const smallForm = koaBody({ multipart: false, json: false, text: false, formLimit: '4kb' });

export function seeOther(ctx: Context, path: string): void {
  ctx.redirect(path);
  ctx.status = 303;
}
