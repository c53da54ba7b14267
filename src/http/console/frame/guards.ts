/** The checks before every page and action of the console; routes.ts has the order. All throw HttpProblem. */
import type { Next } from 'koa';
import { type Context, HttpProblem, seeOther } from '../../server/context.ts';
import { signInPath } from './addresses.ts';
import { readForm } from './forms-and-lists.ts';
import type { PageDependencies } from './page.ts';
import { may, type Permission } from './permissions.ts';
import type { StaffContext, VisitorContext } from './session.ts';

/**
 * Refuses forms of other sites, by the headers that browsers send. For programs that send neither header, the form's
 * token is the check.
 */
export function createFromOwnSite(baseUrl: string) {
  const ownOrigin = new URL(baseUrl).origin;
  return (ctx: Context, next: Next): Promise<unknown> => {
    const site = ctx.get('Sec-Fetch-Site');
    const origin = ctx.get('Origin');
    const isOwn = origin === '' || origin === ownOrigin || URL.parse(origin)?.host === ctx.host;
    if (!isOwn || (site !== '' && site !== 'same-origin'))
      throw new HttpProblem(403, 'This form was sent from another site');
    return next();
  };
}

/**
 * Lets only links and forms of the console itself lead to personal data: the access log names who opens such a page, so
 * no other site, mail or program may make a browser open it. The page of the refusal leads on.
 */
export function fromOwnPage(ctx: Context, next: Next): Promise<unknown> {
  if (ctx.get('Sec-Fetch-Site') === 'same-origin') return next();
  const message = 'This page shows personal data, and the access log will name you';
  throw new HttpProblem(403, message, { actionUrl: ctx.url });
}

/** Sends those who are not signed in to the sign-in page, and refuses those who lack the permission. */
export function createPermit({ returnTo, sessions }: Pick<PageDependencies, 'returnTo' | 'sessions'>) {
  return (permission: Permission) =>
    async (ctx: VisitorContext, next: Next): Promise<unknown> => {
      // A prefetched page may never be seen, but the access log would have an entry for it.
      if (/prefetch|prerender/.test(ctx.get('Sec-Purpose') || ctx.get('Purpose')))
        throw new HttpProblem(503, 'Pages of the console cannot be prefetched');
      const staff = await sessions.find(ctx);
      if (!staff) {
        returnTo.remember(ctx);
        return seeOther(ctx, signInPath);
      }
      ctx.state.staff = staff;
      ctx.state.logFields = { staff: staff.id };
      if (!may(staff.role, permission)) throw new HttpProblem(403, 'Your role does not allow this');
      return next();
    };
}

/** Refuses forms that were not made for the session that sends them. */
export function createOwnForm({ sessions }: Pick<PageDependencies, 'sessions'>) {
  return (ctx: StaffContext, next: Next): Promise<unknown> => {
    const { token = '' } = readForm(ctx);
    if (!sessions.isFormToken(token, ctx.state.staff))
      throw new HttpProblem(403, 'This form does not belong to your current session: open its page again');
    return next();
  };
}
