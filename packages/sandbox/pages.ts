/** The gateway's pages, in a look of their own: nobody should take the bank for the agency, or either for real. */
import { fileURLToPath } from 'node:url';
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

/** Of every page; none loads anything. */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/** HTML of one page; every value in `locals` is escaped. */
export function page(name: PageName, locals: object): string {
  return environment.render(`${name}.html`, locals);
}
