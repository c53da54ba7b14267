/** How errors look outside /api/v1 and the console: JSON for programs, a page for people. */
import { otherLanguage } from '../../common/languages.ts';
import { phrase } from '../../common/phrases.ts';
import { type Context, languageOf, type PresentError } from '../server/context.ts';

export function createPresentError(baseUrl: string): PresentError {
  return (ctx, { status, message, kind, actionUrl }) => {
    if (status === 401) ctx.set('WWW-Authenticate', 'Bearer');
    if (!wantsPage(ctx)) {
      ctx.body = { [flagOf(ctx)]: false, message };
      return;
    }
    const isTemporary = kind === 'tooManyRequests' || status >= 500;
    // A form that failed is opened anew: to reload its page would send it again.
    const anew = isTemporary && payersPages.test(ctx.path) ? `${baseUrl}${ctx.path}${ctx.search}` : undefined;
    return ctx.render('error.njk', {
      lang: languageOf(ctx),
      // What was posted cannot be opened again.
      otherLanguageUrl: ctx.method === 'GET' ? inOtherLanguage(ctx, baseUrl) : undefined,
      httpStatus: status,
      problem: kind,
      detail: status === 400 ? phrase(languageOf(ctx), message) : undefined,
      requestId: ctx.state.requestId,
      actionUrl: actionUrl ?? (kind === 'pageNotFound' ? `${baseUrl}/` : anew),
    });
  };
}

function inOtherLanguage(ctx: Context, baseUrl: string): string {
  const query = new URLSearchParams(ctx.querystring);
  query.set('lang', otherLanguage(languageOf(ctx)));
  return `${baseUrl}${ctx.path}?${query}`;
}

/** Requery says `success` where every other answer says `status`; its 401 is that of check. */
function flagOf(ctx: Context): 'status' | 'success' {
  return /^\/(?:generic|landreg)\/requery\//.test(ctx.path) && ctx.status !== 401 ? 'success' : 'status';
}

const callersEndpoints =
  /^\/(?:generic|landreg)\/(?:check$|request$|requery\/|payments(?:$|\/)|credentials\/|test-callback$)/;
const payersPages = /^\/(?:$|verify\/|(?:generic|landreg)\/(?:pay|receipt|download)\/)/;

/** Callers' endpoints always answer JSON; payers' pages only if nothing but JSON is accepted; others prefer JSON. */
function wantsPage(ctx: Context): boolean {
  if (callersEndpoints.test(ctx.path)) return false;
  return ctx.accepts(payersPages.test(ctx.path) ? ['html', 'json'] : ['json', 'html']) === 'html';
}
