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
