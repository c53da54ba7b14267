/** Headers that keep our pages from being framed, sniffed, scripted or leaked. */
import type { Next } from 'koa';
import { consoleHeaders, isConsolePath } from '../console/frame/addresses.ts';
import type { Context } from './context.ts';
import { scriptHash, styleHash } from './inline-style.ts';

/** A policy for pages that load nothing; `formActions` are the origins their forms may post to. */
const policy = (scripts: string, formActions: string) =>
  [
    "default-src 'none'",
    `style-src ${styleHash}`,
    `script-src ${scripts}`,
    'img-src data:',
    `form-action ${formActions}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Koa middleware. Nothing here is cached, since every answer shows the state of a payment. */
export function createSecurityHeaders({ baseUrl, production }: { baseUrl: string; production: boolean }) {
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy("'none'", `'self' ${new URL(baseUrl).origin}`),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
    ...(production && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
  return (ctx: Context, next: Next): Promise<unknown> => {
    ctx.set(headers);
    if (isConsolePath(ctx.path)) ctx.set(consoleHeaders);
    return next();
  };
}

/**
 * The policy of the page that posts to the gateway. Browsers hold redirects after the post to it as well, and a
 * gateway sends payers on to banks that only it knows: any https address is allowed.
 */
export const handOverPolicy = (gatewayUrl: string) =>
  policy(scriptHash, `${new URL(gatewayUrl).origin} https:`);
