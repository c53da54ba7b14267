/** The checks before every page and action of the console; routes.ts has the order. All throw HttpProblem. */
import type { Next } from 'koa';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { tryRead, UnreadableEvent } from '../../../events/codec.ts';
import { paymentStream, readPaymentEvent } from '../../../events/payment.ts';
import type { Scope } from '../../../events/user.ts';
import { type Context, HttpProblem, seeOther } from '../../server/context.ts';
import { noSuchPayment } from '../../server/load-history.ts';
import { signInPath } from './addresses.ts';
import { readForm } from './forms-and-lists.ts';
import { leadTo, type PageDependencies } from './page.ts';
import { may, type Permission } from './permissions.ts';
import type { Staff, StaffContext, VisitorContext } from './session.ts';

/** Refuses forms of other sites, by the headers that browsers send; for programs, the form's token is the check. */
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

const isFromOwnPage = (ctx: Context) => ctx.get('Sec-Fetch-Site') === 'same-origin';

/** Only the console's own pages lead to personal data: no other site may put somebody into the access log. */
export function fromOwnPage(ctx: Context, next: Next): Promise<unknown> {
  if (isFromOwnPage(ctx)) return next();
  const message = 'This page shows personal data, and the access log will name you';
  throw new HttpProblem(403, message, { actionUrl: ctx.url });
}

/**
 * What a page does for an account with a scope. `all`: it is about the ledger as a whole, and refuses. `ofPayment`: the
 * payment of its path must be in the scope. `filtered`: it holds only what is in the scope. `own`: it is about the
 * account itself.
 */
export type ForScope = 'all' | 'ofPayment' | 'filtered' | 'own';

type Access = { permission: Permission; forScope: ForScope };

/** Sends those who are not signed in to the sign-in page, and refuses those who lack the permission or whose scope it is not. */
export function createPermit({ eventStore, returnTo, sessions }: PageDependencies) {
  return (access: Access) =>
    async (ctx: VisitorContext, next: Next): Promise<unknown> => {
      // A prefetched page may never be seen, but the access log would have an entry for it.
      if (/prefetch|prerender/.test(ctx.get('Sec-Purpose') || ctx.get('Purpose')))
        throw new HttpProblem(503, 'Pages of the console cannot be prefetched');
      const staff = await sessions.find(ctx);
      if (staff) {
        ctx.state.staff = staff;
        ctx.state.logFields = { staff: staff.id };
        await assertMay(staff, access, ctx.params.id ?? '', eventStore);
        return next();
      }
      // What leads there after signing in is a page of the console, wherever the link to it was.
      if (access.permission !== 'viewPersonalData' || isFromOwnPage(ctx)) returnTo.remember(ctx);
      const notice = ctx.path.endsWith('/sign-out') ? 'signed-out' : 'expired';
      return ctx.method === 'POST' ? leadTo(ctx, signInPath, notice) : seeOther(ctx, signInPath);
    };
}

async function assertMay(
  staff: Staff,
  { permission, forScope }: Access,
  paymentId: string,
  eventStore: PageDependencies['eventStore'],
): Promise<void> {
  if (staff.merchants && forScope === 'all')
    throw new HttpProblem(403, 'This is about all agencies, and your account is limited to some');
  if (!may(staff, permission)) throw new HttpProblem(403, 'Your role does not allow this');
  const isSeen = forScope !== 'ofPayment' || (await isPaymentInScope(staff.merchants, paymentId, eventStore));
  if (!isSeen) throw noSuchPayment();
}

/** Whether somebody with this scope may see a payment. With a scope, they see none that does not exist or cannot be read. */
export async function isPaymentInScope(scope: Scope, id: string, { load }: PageDependencies['eventStore']) {
  if (!transactionIdPattern.test(id)) return false;
  if (scope === null) return true;
  const [first] = await load(paymentStream(id), 0, 1);
  const read = first && tryRead(readPaymentEvent, first);
  if (!read || read instanceof UnreadableEvent || read.type !== 'PaymentRequested') return false;
  return scope.includes(read.data.merchant.code);
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
