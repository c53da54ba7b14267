/** A user, who is also a member of staff: its events and their fold; passkeys.ts folds passkeys. Decisions: src/commands/user.ts. */
import { counter, type EventOf, utc } from '@ledger/kernel/structs.ts';
import { array, enums, literal, nonempty, object, optional, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const userEvents = {
  UserCreated: object({
    at: utc,
    id: string(),
    name: string(),
    email: string(),
    role: enums(roles),
    /** False: may sign in only once that is granted, like users who were made over the API or have a scope. */
    console: optional(literal(false)),
  }),
  /** Access to the payments of these merchants, or of all if absent. The last event counts. */
  ConsoleAccessGranted: object({ at: utc, merchants: optional(nonempty(array(string()))) }),
  UserRoleChanged: object({ at: utc, role: enums(roles) }),
  /** Can no longer sign in, and every session ends at its next request. */
  UserDeactivated: object({ at: utc }),
  UserReactivated: object({ at: utc }),
  /**
   * `id` and `publicKey` (COSE) are base64url; `counter` and `transports` are what the authenticator said; `sessionId` is
   * the session that registered it.
   */
  PasskeyRegistered: object({
    at: utc,
    id: string(),
    publicKey: string(),
    counter,
    transports: array(string()),
    name: string(),
    sessionId: optional(string()),
  }),
  PasskeyRemoved: object({ at: utc, id: string() }),
};

export type UserEvent = EventOf<typeof userEvents>;

/** A user as /api/v1 shows it. */
export type User = { id: string; name: string; email: string; role: Role; createdAt: string };

/** The codes of the merchants whose payments somebody may see; null for all. */
export type Scope = readonly string[] | null;

/** `console`: whether the user was ever let into the console; `merchants`: of a scope, absent for all. */
export type Account = User & { active: boolean; console: boolean; merchants?: readonly string[] };

export const maySignIn = (account: Account) => account.active && account.console;

export const userFold: Fold<Account | null, UserEvent> = {
  prefix: 'user-',
  initial: null,
  read: readerOf(userEvents),
  evolve(state, event) {
    if (event.type === 'UserCreated') {
      const { at: createdAt, console = true, id, name, email, role } = event.data;
      return state ?? { id, name, email, role, createdAt, active: true, console };
    }
    if (!state) return state;
    switch (event.type) {
      case 'UserRoleChanged':
        return { ...state, role: event.data.role };
      case 'ConsoleAccessGranted': {
        const { merchants: _, ...account } = state;
        const { merchants } = event.data;
        return { ...account, console: true, ...(merchants && { merchants }) };
      }
      case 'UserDeactivated':
      case 'UserReactivated':
        return { ...state, active: event.type === 'UserReactivated' };
      case 'PasskeyRegistered':
      case 'PasskeyRemoved':
        return state;
    }
  },
};
export const userStream = (id: string) => `${userFold.prefix}${id}`;
