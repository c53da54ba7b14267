/** What a page of the console is, and the way to it: who may, from where, with which form. */
import type Router from '@koa/router';
import type { Middleware, Next } from 'koa';
import { formBody } from '../../server/body.ts';
import { type Context, type RequestState, seeOther } from '../../server/context.ts';
import { signInPath } from './addresses.ts';
import type { SessionCookies } from './cookie.ts';
import { readForm } from './form.ts';
import { type Action, may } from './permissions.ts';
import { ConsoleProblem } from './problem.ts';
import type { ReturnTo } from './return-to.ts';
import { type Staff, setStaff, staffOf } from './staff.ts';

export type ConsoleRoute = {
  method: 'get' | 'post';
  path: '/console' | `/console/${string}`;
  action: Action;
  /** Reads the body of a POST; a form of at most 64 KiB where nothing else is said. */
  body?: Middleware;
  handle: (ctx: Context, staff: Staff) => Promise<void>;
};

/** Adds the routes. A POST is looked at in this order: origin, session, permission, token of the form. */
export function addGuarded(
  router: Router<RequestState>,
  routes: readonly ConsoleRoute[],
  guards: {
    checkOrigin: (ctx: Context, next: Next) => Promise<unknown>;
    findStaff: (ctx: Context) => Promise<Staff | null>;
    cookies: SessionCookies;
    returnTo: ReturnTo;
  },
): void {
  const { checkOrigin, cookies, findStaff, returnTo } = guards;

  /** Those who are not signed in are shown where to; those who may not are told so. */
  const enter =
    (action: Action) =>
    async (ctx: Context, next: Next): Promise<unknown> => {
      // A page that the browser asks for ahead may never be seen, and a look at people would be on record.
      if (/prefetch|prerender/.test(ctx.get('Sec-Purpose') || ctx.get('Purpose')))
        throw new ConsoleProblem(503, 'No page of the console is given out before it is opened');
      const staff = await findStaff(ctx);
      if (!staff) {
        returnTo.remember(ctx);
        return seeOther(ctx, signInPath);
      }
      setStaff(ctx, staff);
      if (!may(staff.role, action)) throw new ConsoleProblem(403, 'Your role does not allow this');
      return next();
    };

  const checkToken = (ctx: Context, next: Next): Promise<unknown> => {
    const { token = '' } = readForm(ctx);
    if (!cookies.isFormToken(token, someStaffOf(ctx).ticket))
      throw new ConsoleProblem(403, 'This form is not of your present session: open its page again');
    return next();
  };

  for (const { action, body = formBody, handle, method, path } of routes) {
    const answer = (ctx: Context) => handle(ctx, someStaffOf(ctx));
    if (method === 'get') router.get(path, enter(action), answer);
    else router.post(path, checkOrigin, enter(action), body, checkToken, answer);
  }
}

function someStaffOf(ctx: Context): Staff {
  const staff = staffOf(ctx);
  if (!staff) throw new Error('A page of the console was reached without signing in');
  return staff;
}
