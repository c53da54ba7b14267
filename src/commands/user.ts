/** What may happen to a user. The events are in src/events/user.ts. */
import { defaulted, type Infer } from 'superstruct';
import { maskable } from '../events/structs.ts';
import { evolveUser, roles, type User, type UserEvent } from '../events/user.ts';
import { type Decider, Refused } from './decider.ts';
import { derivedId } from './derived-id.ts';
import { email, name, oneOf } from './fields.ts';

/** What a new user is made of; read it with `readFields`. */
export const NewUser = maskable({ name, email, role: defaulted(oneOf(roles), 'member') });
export type NewUser = Infer<typeof NewUser>;

export type CreateUser = { type: 'CreateUser'; at: string; id: string; user: NewUser };

/**
 * One id per email address, upper and lower case being the same: creating is one append with "no stream" expected,
 * and a second user with the same address meets the first one's stream.
 */
export function userIdOf(key: string, address: string): string {
  return derivedId(key, ['user', address.toLowerCase()]);
}

export const userDecider: Decider<User | null, CreateUser, UserEvent> = {
  initial: null,
  evolve: evolveUser,
  decide({ at, id, user }, state) {
    if (state) return new Refused('email_taken', 'A user with this email exists already');
    return [{ type: 'UserCreated', data: { at, id, ...user } }];
  },
};
