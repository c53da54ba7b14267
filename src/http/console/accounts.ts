/** /console/staff: who may sign in, and as what. New users come from /api/v1 or the command line. */

import type { UserCommand } from '../../commands/user.ts';
import { type Role, roles, userStream } from '../../events/user.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import type { Context } from '../server/context.ts';
import { staffCause } from './frame/access-log.ts';
import { readChoice } from './frame/filter-fields.ts';
import { readForm, readQuery } from './frame/form.ts';
import type { NoticeCode } from './frame/notices.ts';
import type { ConsoleParts } from './frame/parts.ts';
import { ConsoleProblem } from './frame/problem.ts';
import type { ConsoleRoute } from './frame/route.ts';
import { loadAccount } from './frame/session.ts';
import type { Staff } from './frame/staff.ts';

const path = '/console/staff';
const pageSize = 100;

export function accountRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    { method: 'get', path, action: 'manageStaff', handle: (ctx) => showAccounts(ctx, parts) },
    {
      method: 'post',
      path: '/console/staff/:id/role',
      action: 'manageStaff',
      handle(ctx, staff) {
        const role = readChoice<Role>(readForm(ctx).role, roles);
        if (role === null) throw new ConsoleProblem(400, 'A role must be chosen');
        return change(ctx, parts, staff, { type: 'ChangeUserRole', role }, 'role-changed');
      },
    },
    {
      method: 'post',
      path: '/console/staff/:id/deactivate',
      action: 'manageStaff',
      handle: (ctx, staff) => change(ctx, parts, staff, { type: 'DeactivateUser' }, 'deactivated'),
    },
    {
      method: 'post',
      path: '/console/staff/:id/reactivate',
      action: 'manageStaff',
      handle: (ctx, staff) => change(ctx, parts, staff, { type: 'ReactivateUser' }, 'reactivated'),
    },
  ];
}

async function showAccounts(ctx: Context, { content, eventStore, frame, log }: ConsoleParts): Promise<void> {
  const { after = null } = readQuery(ctx);
  if (after !== null && !derivedIdPattern.test(after))
    throw new ConsoleProblem(400, 'The list has no such page');
  const found = await content.users.list({ limit: pageSize + 1, after }).catch((err: unknown) => {
    log.warn({ err }, 'the users cannot be read from Postgres');
    throw new ConsoleProblem(
      503,
      'The list of users cannot be read at the moment; `ledger users` works all the same',
    );
  });
  if (!found) throw new ConsoleProblem(404, 'The list has no such page');
  const listed = found.slice(0, pageSize);
  const last = found.length > pageSize ? listed.at(-1) : undefined;
  // Folded afresh, so that a change shows on the page that follows it.
  const accounts = await Promise.all(listed.map(({ id }) => loadAccount(eventStore, id)));
  await frame.show(ctx, 'accounts.njk', {
    title: 'Staff',
    accounts: accounts.filter((account) => account !== null),
    roles: roles.map((role) => ({ value: role, text: role })),
    nextUrl: last ? `${path}?after=${last.id}` : null,
    isFirstPage: after === null,
  });
}

type Change = { type: 'ChangeUserRole'; role: Role } | { type: 'DeactivateUser' | 'ReactivateUser' };

async function change(
  ctx: Context,
  { clock, content, frame }: ConsoleParts,
  staff: Staff,
  what: Change,
  notice: NoticeCode,
): Promise<void> {
  const { id = '' } = ctx.params;
  if (!derivedIdPattern.test(id)) throw new ConsoleProblem(404, 'There is no such user');
  const command: UserCommand = { ...what, at: clock().toISOString(), by: staff.id };
  await content.executeUser(userStream(id), command, staffCause(ctx, staff));
  frame.done(ctx, path, notice);
}
