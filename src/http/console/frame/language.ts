/** The language of the console: `?lang=` on any page chooses it, and a cookie keeps it for a year. */
import type { Next } from 'koa';
import { languages } from '../../../common/languages.ts';
import { askedLanguage, type Context, seeOther } from '../../server/context.ts';
import { createCookie } from '../../server/cookie.ts';
import { queryOf, readQuery } from './forms-and-lists.ts';

const keptSeconds = 365 * 24 * 60 * 60;

/** Koa middleware of the console's addresses. A page is shown again without the parameter, so that no link keeps it. */
export function createLanguageChoice(baseUrl: string) {
  const cookie = createCookie(baseUrl, 'console-language', '/console');
  return (ctx: Context, next: Next): Promise<unknown> | undefined => {
    ctx.state.lang = languages.find((each) => each === cookie.read(ctx));
    const asked = askedLanguage(ctx);
    // A statement as PDF has a language of its own.
    if (!asked || ctx.method !== 'GET' || ctx.path.endsWith('.pdf')) return next();
    cookie.set(ctx, asked, keptSeconds);
    seeOther(ctx, `${ctx.path}${queryOf({ ...readQuery(ctx), lang: null })}`);
    return undefined;
  };
}
