/** Where somebody was on the way to who had to sign in first: kept by the browser that asked. */
import type { Context } from '../../server/context.ts';
import { isConsolePath, signInPath } from './addresses.ts';
import { createCookie } from './cookie.ts';

const forSeconds = 30 * 60;
const longest = 1_000;

export type ReturnTo = ReturnType<typeof createReturnTo>;

export function createReturnTo(baseUrl: string) {
  const cookie = createCookie(baseUrl, 'console-return');
  return {
    /** Of pages that people open, and not of downloads or what scripts ask for. */
    remember(ctx: Context): void {
      const path = `${ctx.path}${ctx.search}`;
      if (ctx.method !== 'GET' || !ctx.get('Accept').includes('text/html') || path.length > longest) return;
      cookie.set(ctx, encodeURIComponent(path), forSeconds);
    },

    /** The page, once; the first page of the console where none was asked for, or what is there is no page of ours. */
    take(ctx: Context): string {
      const held = cookie.read(ctx);
      if (held === '') return '/console';
      cookie.set(ctx, '', 0);
      return ownPage(held) ?? '/console';
    },
  };
}

/** Null for what leads elsewhere, whoever put it there. */
function ownPage(encoded: string): string | null {
  const base = 'https://console.invalid';
  const url = URL.parse(decoded(encoded), base);
  const isOwn = url?.origin === base && isConsolePath(url.pathname) && !url.pathname.startsWith(signInPath);
  return isOwn ? `${url.pathname}${url.search}` : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
