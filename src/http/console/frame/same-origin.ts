/** Forms of other sites: refused by what browsers say of themselves, before anything else is looked at. */
import type { Next } from 'koa';
import type { Context } from '../../server/context.ts';
import { ConsoleProblem } from './problem.ts';

/** Koa middleware for every POST of the console. Programs that say neither are left to the token of the form. */
export function createSameOriginCheck(baseUrl: string) {
  const ownOrigin = new URL(baseUrl).origin;
  return (ctx: Context, next: Next): Promise<unknown> => {
    const site = ctx.get('Sec-Fetch-Site');
    const origin = ctx.get('Origin');
    const isOwn = origin === '' || origin === ownOrigin || URL.parse(origin)?.host === ctx.host;
    if (!isOwn || (site !== '' && site !== 'same-origin'))
      throw new ConsoleProblem(403, 'This form was sent from another site');
    return next();
  };
}
