/** Decisions about a user. The events are in src/events/user.ts. */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { maskable } from '@ledger/kernel/structs.ts';
import { defaulted, type Infer } from 'superstruct';
import { readUserEvent } from '../events/codec.ts';
import { type Account, evolveUser, type Role, roles, type UserEvent } from '../events/user.ts';
import { type Decider, Refused } from './decider.ts';
import { email, name, oneOf } from './fields.ts';

export const NewUser = maskable({ name, email, role: defaulted(oneOf(roles), 'member') });
export type NewUser = Infer<typeof NewUser>;

/** `console`: whether the user may sign in to the console at once. */
export type CreateUser = { type: 'CreateUser'; at: string; id: string; user: NewUser; console: boolean };

/** `by` is the id of the user who asks in the console, null for staff at the command line. */
type ByStaff = { at: string; by: string | null };
export type ChangeUserRole = ByStaff & { type: 'ChangeUserRole'; role: Role };
export type GrantConsoleAccess = ByStaff & { type: 'GrantConsoleAccess' };
export type DeactivateUser = ByStaff & { type: 'DeactivateUser' };
export type ReactivateUser = ByStaff & { type: 'ReactivateUser' };

export type UserCommand = CreateUser | ChangeUserRole | GrantConsoleAccess | DeactivateUser | ReactivateUser;

/** One id per email address, whatever its case: a second user with the same address gets the first one's stream. */
export function userIdOf(key: string, address: string): string {
  return derivedId(key, ['user', address.toLowerCase()]);
}

export const userDecider: Decider<Account | null, UserCommand, UserEvent> = {
  initial: null,
  read: readUserEvent,
  evolve: evolveUser,
  decide(command, state) {
    if (command.type === 'CreateUser') {
      const { at, console, id, user } = command;
      if (state) return new Refused('email_taken', 'A user with this email exists already');
      return [{ type: 'UserCreated', data: { at, id, ...user, ...(!console && { console }) } }];
    }
    return state ? decideChange(command, state) : new Refused('unknown_user', 'There is no such user');
  },
};

/** Nobody changes their own account, so that at least one admin always remains. */
function decideChange(
  command: Exclude<UserCommand, CreateUser>,
  { id, role, active, console }: Account,
): readonly UserEvent[] | Refused {
  const { at, by } = command;
  if (by === id) return new Refused('own_account', 'You cannot change your own account: ask another admin');
  switch (command.type) {
    case 'ChangeUserRole':
      return command.role === role ? [] : [{ type: 'UserRoleChanged', data: { at, role: command.role } }];
    case 'GrantConsoleAccess':
      return console ? [] : [{ type: 'ConsoleAccessGranted', data: { at } }];
    case 'DeactivateUser':
      return active ? [{ type: 'UserDeactivated', data: { at } }] : [];
    case 'ReactivateUser':
      return active ? [] : [{ type: 'UserReactivated', data: { at } }];
    default:
      return command satisfies never;
  }
}
