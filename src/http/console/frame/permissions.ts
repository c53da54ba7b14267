/** Who may do what in the console. Every route names its action; there is no other place where a role is looked at. */
import type { Role } from '../../../events/user.ts';

const everybody: readonly Role[] = ['admin', 'member', 'viewer'];
const helpers: readonly Role[] = ['admin', 'member'];
const auditors: readonly Role[] = ['admin', 'viewer'];
const admins: readonly Role[] = ['admin'];

export const permissions = {
  /** Pages without personal data. */
  look: everybody,
  /** Payers' details, raw evidence, searches by payer: each look is recorded before it is shown. */
  lookAtPeople: everybody,
  export: everybody,
  signOut: everybody,
  sendAgain: helpers,
  requery: helpers,
  seeLooks: auditors,
  resolve: admins,
  reconcile: admins,
  rebuild: admins,
  manageStaff: admins,
} satisfies Record<string, readonly Role[]>;

export type Action = keyof typeof permissions;

export function may(role: Role, action: Action): boolean {
  return permissions[action].includes(role);
}

/** What the templates ask before they draw a button. */
export function permissionsOf(role: Role): Record<Action, boolean> {
  const entries = Object.keys(permissions).map((action) => [action, may(role, action as Action)]);
  return Object.fromEntries(entries) as Record<Action, boolean>;
}
