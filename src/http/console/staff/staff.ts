/** /console/staff: who may sign in, in which role, and whose payments they see. Users are added over /api/v1 or on the command line. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { createExecute } from '../../../commands/execute.ts';
import { type UserChange, userDecider } from '../../../commands/user.ts';
import { readScope } from '../../../config/merchants.ts';
import { type Role, roles, userStream } from '../../../events/user.ts';
import { HttpProblem } from '../../server/context.ts';
import { isMeant } from '../frame/confirm.ts';
import type { FormPage } from '../frame/form-page.ts';
import { noSuchPage, pageOf, readChoice, readForm, readQuery } from '../frame/forms-and-lists.ts';
import { leadTo, type NoticeCode, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { loadAccount, type StaffContext } from '../frame/session.ts';

const path = '/console/staff';
const size = 100;

/** `refused` are the merchants that were not accepted, and the account. It is listed even where it is on another page. */
const listAccounts: FormPage['model'] = async (ctx, { askReadModels, eventStore, users }, typed) => {
  const { after } = readQuery(ctx);
  if (after !== undefined && !derivedIdPattern.test(after)) throw noSuchPage();
  const page = { limit: size + 1, after: after === undefined ? null : { cursor: after } };
  const [found] = await askReadModels(
    ctx,
    [users.list({ limit: page.limit, after: after ?? null })],
    'The list of users cannot be read at the moment; `ledger users` still works',
  );
  if (!found) throw new HttpProblem(404, 'The list has no such page');
  const listed = found.map(({ id }) => ({ id, cursor: id }));
  const { rows, ...links } = pageOf(listed, page, path);
  const ids = new Set(rows.map(({ id }) => id));
  const refused = typed && { id: ctx.params.id ?? '', merchants: typed.merchants ?? '' };
  if (refused) ids.add(refused.id);
  // Read from their streams, so that the page shows a change immediately.
  const accounts = await Promise.all(Array.from(ids, (id) => loadAccount(eventStore, id)));
  return { ...links, rows: accounts.filter((account) => account !== null), roles, refused };
};

/** The list of accounts, as the form that grants each its merchants. */
export const accounts: FormPage = {
  template: 'staff/staff.njk',
  model: listAccounts,
  submit: change('granted', (ctx, { config }) => ({
    type: 'GrantConsoleAccess',
    granted: readScope(readForm(ctx).merchants ?? '', config.merchants),
  })),
};

export const changeRole = change('role-changed', (ctx) => {
  const role = readChoice<Role>(readForm(ctx).role, roles);
  if (role === null) throw new HttpProblem(400, 'Choose a role');
  return { type: 'ChangeUserRole', role };
});

export const deactivate = asking(
  'deactivate',
  change('deactivated', () => ({ type: 'DeactivateUser' })),
);

export const reactivate = change('reactivated', () => ({ type: 'ReactivateUser' }));

export const removePasskeysOf = asking('removePasskeys', async (ctx, { passkeys, runtime }) => {
  const keepsOne = ctx.params.id === ctx.state.staff.id;
  const command = { type: 'RemovePasskeys', at: runtime.now().toISOString(), id: null, keepsOne } as const;
  await passkeys.execute(streamOf(ctx), command, staffCause(ctx));
  leadTo(ctx, path, 'passkeys-removed');
});

function change(
  notice: NoticeCode,
  readChange: (ctx: StaffContext, dependencies: PageDependencies) => UserChange,
): Page {
  return async (ctx, dependencies) => {
    const { eventStore, runtime } = dependencies;
    const at = runtime.now().toISOString();
    const command = { ...readChange(ctx, dependencies), at, by: ctx.state.staff.id };
    const execute = createExecute({ eventStore, decider: userDecider });
    await execute(streamOf(ctx), command, staffCause(ctx));
    leadTo(ctx, path, notice);
  };
}

function asking(what: 'deactivate' | 'removePasskeys', act: Page): Page {
  return async (ctx, dependencies) => {
    const account = await loadAccount(dependencies.eventStore, ctx.params.id ?? '');
    const asked = account && { name: account.name, backUrl: path };
    if (!asked || (await isMeant(ctx, dependencies, what, asked))) await act(ctx, dependencies);
  };
}

function streamOf({ params: { id = '' } }: StaffContext): string {
  if (!derivedIdPattern.test(id)) throw new HttpProblem(404, 'There is no such user');
  return userStream(id);
}
