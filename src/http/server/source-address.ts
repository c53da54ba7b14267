/** Where a request comes from. `app.proxy` and `app.maxIpsCount` of Koa say how many proxies are trusted. */
import { isIP, isIPv6 } from 'node:net';
import type { Context } from './context.ts';

/** The address that the outermost trusted proxy saw; what callers write into X-Forwarded-For is to the left of it. */
export function sourceAddress(ctx: Context): string {
  // Some proxies add the port.
  const address = ctx.ip
    .replace(/^\[(.+)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1$2')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? (ctx.req.socket.remoteAddress ?? '') : address;
}

/** What is counted as one source: an address of IPv4, or the /64 of IPv6 that a household or an office is given. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname
    .slice(1, -1)
    .split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== '')) as [
    string[],
    string[],
  ];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
