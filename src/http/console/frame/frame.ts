/** What surrounds every page of the console: the navigation, and after an action the notice of what was done. */
import type { Role } from '../../../events/user.ts';
import { type Context, seeOther } from '../../server/context.ts';
import { texts } from '../texts.ts';
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

export type NoticeCode = keyof typeof texts.notices;

/** The notices that ask for something; the others say that it is done. */
const warnings: readonly string[] = [
  'requery-not-found',
  'approval-requested',
  'still-parked',
] satisfies NoticeCode[];

function noticeOf(code: string | undefined) {
  if (code === undefined || !Object.hasOwn(texts.notices, code)) return null;
  return { kind: warnings.includes(code) ? 'warning' : 'success', text: texts.notices[code as NoticeCode] };
}

/** After an action: redirects to a page with the notice. The URL holds only its code: no link can set the text. */
export function leadTo(ctx: Context, path: string, notice: NoticeCode): void {
  seeOther(ctx, `${path}${path.includes('?') ? '&' : '?'}notice=${notice}`);
}
