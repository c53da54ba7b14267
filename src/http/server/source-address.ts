/** Where a request comes from. `app.proxy` and `app.maxIpsCount` of Koa say how many proxies are trusted. */
import { isIP } from 'node:net';
import type { Context } from './context.ts';

/** The address that the outermost trusted proxy saw; what callers write into X-Forwarded-For is to the left of it. */
export function sourceAddress(ctx: Context): string {
  // Some proxies add the port.
  const address = ctx.ip
    .replace(/^\[(.+)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1$2')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? (ctx.req.socket.remoteAddress ?? '') : address;
}

/** Whether X-Forwarded-For has an address although no proxy is trusted, or fewer than there are trusted proxies. */
export function isInDoubt(ctx: Context, trustedProxies: number): boolean {
  const { length } = ctx.get('X-Forwarded-For').match(/[^\s,]+/g) ?? [];
  return trustedProxies === 0 ? length > 0 : length < trustedProxies;
}
