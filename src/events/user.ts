/** A user of the content service: what can happen to one, and the fold. What may happen is decided in src/commands/user.ts. */
import { enums, type Infer, object, string } from 'superstruct';
import { utc } from './structs.ts';

export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const userEvents = {
  UserCreated: object({
    at: utc,
    id: string(),
    name: string(),
    email: string(),
    role: enums(roles),
  }),
};

export type UserEvent = { type: 'UserCreated'; data: Infer<typeof userEvents.UserCreated> };

export const userStreamPrefix = 'user-';
export const userStream = (id: string) => `${userStreamPrefix}${id}`;

export type User = { id: string; name: string; email: string; role: Role; createdAt: string };

/** Null before the first event. Total: a second beginning changes nothing. */
export function evolveUser(state: User | null, { data }: UserEvent): User {
  if (state) return state;
  const { at: createdAt, id, name, email, role } = data;
  return { id, name, email, role, createdAt };
}
