/** Which role may do what, and what an account that is limited to some merchants may not. Every route names its permission. */
import type { Role, Scope } from '../../../events/user.ts';

const everybody: readonly Role[] = ['admin', 'member', 'viewer'];
const helpers: readonly Role[] = ['admin', 'member'];
const auditors: readonly Role[] = ['admin', 'viewer'];
const admins: readonly Role[] = ['admin'];

export const permissions = {
  /** Pages without personal data. */
  read: everybody,
  /** Pages about the ledger as a whole. */
  readAll: everybody,
  /** Payers' details, events as recorded, searches by payer. Each access is in the access log before it is shown. */
  viewPersonalData: everybody,
  export: everybody,
  /** One's own account: its passkeys, and signing out. */
  ownAccount: everybody,
  addNote: helpers,
  sendAgain: helpers,
  requery: helpers,
  /** A rebuild of read models changes no event, and the request for it is recorded. */
  rebuild: helpers,
  readAccessLog: auditors,
  resolve: admins,
  erase: admins,
  reconcile: admins,
  manageStaff: admins,
} satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof permissions;

/** Permissions about the ledger as a whole, which no account with a scope has. */
const ofAll: readonly Permission[] = ['readAll', 'readAccessLog', 'rebuild', 'reconcile', 'manageStaff'];

type Account = { role: Role; merchants: Scope };

export function may({ role, merchants }: Account, permission: Permission): boolean {
  return permissions[permission].includes(role) && !(merchants && ofAll.includes(permission));
}

/** For the templates, which hide the buttons that would be refused. */
export function permissionsOf(account: Account): Record<Permission, boolean> {
  const entries = Object.keys(permissions).map((each) => [each, may(account, each as Permission)]);
  return Object.fromEntries(entries) as Record<Permission, boolean>;
}
