/** Headers that keep our pages from being framed, sniffed, scripted or leaked. */
import { contentPolicy } from '@ledger/web/content-policy.ts';
import type { Next } from 'koa';
import type { Context } from './context.ts';
import { styleHash } from './inline-style.ts';

/** For pages that load nothing; `formActions` are the origins that their forms may post to. */
export const pagePolicy = (scripts: string, formActions: string) =>
  contentPolicy({
    'style-src': styleHash,
    'script-src': scripts,
    'img-src': 'data:',
    'form-action': formActions,
  });

/** Koa middleware. Nothing is cached unless its handler says so, since most answers show the state of a payment. */
export function createSecurityHeaders({ baseUrl, production }: { baseUrl: string; production: boolean }) {
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': pagePolicy("'none'", `'self' ${new URL(baseUrl).origin}`),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
    ...(production && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
  return (ctx: Context, next: Next): Promise<unknown> => {
    ctx.set(headers);
    return next();
  };
}
