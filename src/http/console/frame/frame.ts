/** What surrounds every page of the console: the navigation, and after an action the notice of what was done. */
import type { Role } from '../../../events/user.ts';
import { type Context, seeOther } from '../../server/context.ts';
import type { ConsoleAssets } from './assets.ts';
import { readQuery } from './forms-and-lists.ts';
import { may, type Permission, permissionsOf } from './permissions.ts';
import type { Sessions, VisitorContext } from './session.ts';

/**
 * Renders views/console/<template> with the model and what layout.njk needs; `title` is the heading. Throws where a
 * template refers to something that its model lacks.
 */
export type ShowPage = (
  ctx: VisitorContext,
  template: string,
  model: { title: string } & Record<string, unknown>,
) => Promise<void>;

export function createShowPage({
  assets,
  sessions,
}: {
  assets: ConsoleAssets;
  sessions: Pick<Sessions, 'formToken'>;
}): ShowPage {
  return async (ctx, template, model) => {
    const { staff } = ctx.state;
    await ctx.render(`console/${template}`, {
      lang: 'en',
      assets: assets.urls,
      path: ctx.path,
      notice: noticeOf(readQuery(ctx).notice),
      staff: staff ? { id: staff.id, name: staff.name, role: staff.role } : null,
      may: staff ? permissionsOf(staff.role) : null,
      navigation: staff ? navigationFor(staff.role, ctx.path) : [],
      token: staff ? sessions.formToken(staff) : '',
      ...model,
    });
  };
}

const pages: readonly { path: string; title: string; permission: Permission }[] = [
  { path: '/console', title: 'Today', permission: 'read' },
  { path: '/console/payments', title: 'Payments', permission: 'read' },
  { path: '/console/exceptions', title: 'Exceptions', permission: 'read' },
  { path: '/console/reconciliation', title: 'Reconciliation', permission: 'read' },
  { path: '/console/deliveries', title: 'Deliveries', permission: 'read' },
  { path: '/console/statements', title: 'Statements', permission: 'read' },
  { path: '/console/settlements', title: 'Settlement', permission: 'read' },
  { path: '/console/journal', title: 'Journal', permission: 'read' },
  { path: '/console/export', title: 'Export', permission: 'export' },
  { path: '/console/projections', title: 'Projections', permission: 'read' },
  { path: '/console/seals', title: 'Seals', permission: 'read' },
  { path: '/console/access-log', title: 'Access log', permission: 'readAccessLog' },
  { path: '/console/staff', title: 'Staff', permission: 'manageStaff' },
];

/** The pages that the role may see; the current one is the page at or above the request's path. */
function navigationFor(role: Role, path: string) {
  return pages
    .filter(({ permission }) => may(role, permission))
    .map((page) => ({
      path: page.path,
      title: page.title,
      isCurrent: path === page.path || (page.path !== '/console' && path.startsWith(`${page.path}/`)),
    }));
}

const notices = {
  'link-requested': {
    kind: 'success',
    text: 'If this address belongs to a member of staff, an email with a link is on its way. The link works once, within 15 minutes.',
  },
  'signed-out': { kind: 'success', text: 'You are signed out, on every device that used this session.' },
  'sent-again': { kind: 'success', text: 'The delivery is due again and will be sent at once.' },
  'already-due': { kind: 'success', text: 'This delivery is already due.' },
  'requery-news': {
    kind: 'success',
    text: 'The registry was asked and reported something new: see the last event.',
  },
  'requery-no-news': { kind: 'success', text: 'The registry was asked and reported nothing new.' },
  'requery-not-found': { kind: 'warning', text: 'The registry has no record of this payment.' },
  erased: { kind: 'success', text: 'The personal data are erased.' },
  resolved: { kind: 'success', text: 'The exception is resolved.' },
  refunded: { kind: 'success', text: 'The refund is recorded.' },
  'approval-requested': {
    kind: 'warning',
    text: 'Recorded as a proposal: it takes effect when another administrator approves it, under Exceptions.',
  },
  approved: { kind: 'success', text: 'Approved: what was proposed has been recorded.' },
  rejected: { kind: 'success', text: 'The proposal is rejected.' },
  settled: { kind: 'success', text: 'It is recorded, and posted to the journal.' },
  'settled-before': { kind: 'success', text: 'It was recorded before: nothing has changed.' },
  'rebuild-requested': {
    kind: 'success',
    text: 'The rebuild is requested. The current tables serve until it is done.',
  },
  unparked: { kind: 'success', text: 'It was tried again, and nothing of it is parked any more.' },
  'still-parked': { kind: 'warning', text: 'It was tried again, and is still parked.' },
  'role-changed': { kind: 'success', text: 'The role is changed, with immediate effect.' },
  deactivated: { kind: 'success', text: 'The user is deactivated, and all their sessions have ended.' },
  reactivated: { kind: 'success', text: 'The user can sign in again.' },
} satisfies Record<string, { kind: 'success' | 'warning'; text: string }>;

export type NoticeCode = keyof typeof notices;

function noticeOf(code: string | undefined) {
  return code !== undefined && Object.hasOwn(notices, code) ? notices[code as NoticeCode] : null;
}

/** After an action: redirects to a page with the notice. The URL holds only its code: no link can set the text. */
export function leadTo(ctx: Context, path: string, notice: NoticeCode): void {
  seeOther(ctx, `${path}${path.includes('?') ? '&' : '?'}notice=${notice}`);
}
