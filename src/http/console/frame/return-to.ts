/** A page to go back to, kept in a cookie: the one asked for before signing in, and the list looked at last. */
import { orElse } from '@ledger/kernel/or-else.ts';
import type { Context } from '../../server/context.ts';
import { createCookie } from '../../server/cookie.ts';
import { isConsolePath, signInPath } from './addresses.ts';

const keptSeconds = 30 * 60;
const maxLength = 1_000;

export function createReturnTo(baseUrl: string, name: 'console-return' | 'console-list') {
  const cookie = createCookie(baseUrl, name, '/console');
  return {
    /** Keeps the address of a page; downloads and what scripts request are not kept. */
    remember(ctx: Context): void {
      const path = `${ctx.path}${ctx.search}`;
      if (ctx.method !== 'GET' || !ctx.get('Accept').includes('text/html') || path.length > maxLength) return;
      cookie.set(ctx, encodeURIComponent(path), keptSeconds);
    },

    read: (ctx: Context): string | null => ownPage(cookie.read(ctx)),

    /** The page, once; the console's first page if none is kept. */
    take(ctx: Context): string {
      const kept = cookie.read(ctx);
      cookie.set(ctx, '', 0);
      return ownPage(kept) ?? '/console';
    },
  };
}

/** Null for an address outside the console, because anybody may have written the cookie. */
function ownPage(encoded: string): string | null {
  const base = 'https://console.invalid';
  const path = orElse(() => decodeURIComponent(encoded), '');
  const url = URL.parse(path, base);
  const isOwn = url?.origin === base && isConsolePath(url.pathname) && !url.pathname.startsWith(signInPath);
  return isOwn ? `${url.pathname}${url.search}` : null;
}
