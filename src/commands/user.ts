/** Decisions about a user. The events are in src/events/user.ts. */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { maskable } from '@ledger/kernel/structs.ts';
import { defaulted, type Infer } from 'superstruct';
import { type Account, type Role, roles, type Scope, type UserEvent, userFold } from '../events/user.ts';
import { type Decider, type Decision, Refused } from './decider.ts';
import { name, newEmail, oneOf } from './fields.ts';

export const NewUser = maskable({ name, email: newEmail, role: defaulted(oneOf(roles), 'member') });
export type NewUser = Infer<typeof NewUser>;

/** Whose payments are granted; `configured` are the merchants that there are. */
export type GrantedScope = { merchants: Scope; configured: readonly string[] };
type Granted = { granted?: GrantedScope | undefined };

/** `console`: whether the user may sign in to the console immediately; without `granted`, for all merchants. */
export type CreateUser = Granted & {
  type: 'CreateUser';
  at: string;
  id: string;
  user: NewUser;
  console: boolean;
};

export type UserChange =
  | { type: 'ChangeUserRole'; role: Role }
  /** Without `granted`, a user who has a scope keeps it. */
  | ({ type: 'GrantConsoleAccess' } & Granted)
  | { type: 'DeactivateUser' | 'ReactivateUser' };

/** `by` is the id of the user who asks in the console, null for staff at the command line. */
type ChangeUser = { at: string; by: string | null } & UserChange;
export type UserCommand = CreateUser | ChangeUser;

/** One id per email address, whatever its case: a second user with the same address gets the first one's stream. */
export function userIdOf(key: string, address: string): string {
  return derivedId(key, ['user', address.toLowerCase()]);
}

export const userDecider: Decider<Account | null, UserCommand, UserEvent> = {
  ...userFold,
  decide(command, state) {
    if (command.type === 'CreateUser') {
      const { at, console, granted, id, user } = command;
      if (state) return new Refused('email_taken', 'A user with this email exists already');
      const grant = granted?.merchants ? decideGrant(at, granted, null) : [];
      if (grant instanceof Refused) return grant;
      const isOutside = !console || grant.length > 0;
      const data = { at, id, ...user, ...(isOutside && { console: false as const }) };
      return [{ type: 'UserCreated', data }, ...grant];
    }
    return state ? decideChange(command, state) : new Refused('unknown_user', 'There is no such user');
  },
};

/** Nobody changes their own account, so that an admin remains, unless two demote each other at the same moment. */
function decideChange(command: ChangeUser, account: Account): Decision<UserEvent> {
  const { at, by } = command;
  const { id, role, active } = account;
  if (by === id) return new Refused('own_account', 'You cannot change your own account: ask another admin');
  switch (command.type) {
    case 'ChangeUserRole':
      return command.role === role ? [] : [{ type: 'UserRoleChanged', data: { at, role: command.role } }];
    case 'GrantConsoleAccess':
      return decideGrant(at, command.granted, account);
    case 'DeactivateUser':
      return active ? [{ type: 'UserDeactivated', data: { at } }] : [];
    case 'ReactivateUser':
      return active ? [] : [{ type: 'UserReactivated', data: { at } }];
  }
}

/** A merchant that is no longer configured can stay in a scope: its payments are still there. */
function decideGrant(at: string, granted: GrantedScope | undefined, account: Account | null) {
  const before = account?.merchants;
  const { merchants, configured } = granted ?? { merchants: before ?? null, configured: before ?? [] };
  const unknown = merchants?.filter((code) => !configured.includes(code) && !before?.includes(code)) ?? [];
  if (unknown.length > 0)
    return new Refused('unknown_merchant', `There is no merchant “${unknown.join('”, “')}”`);
  if (account?.console && merchants?.join() === before?.join()) return [];
  const data = { at, ...(merchants && { merchants: [...merchants] }) };
  return [{ type: 'ConsoleAccessGranted' as const, data }];
}
