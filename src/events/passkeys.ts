/** The passkeys of a user, folded from the user's stream, and the uses of one, in a stream of its own. */
import { hash } from 'node:crypto';
import { object, string } from 'superstruct';
import { counter, type EventOf, utc } from '../kernel/structs.ts';
import type { UserEvent } from './user.ts';

type Registered = Extract<UserEvent, { type: 'PasskeyRegistered' }>['data'];
export type Passkey = Omit<Registered, 'at'> & { registeredAt: string };

/** `removedIds` are never registered again, so that an answer of a browser registers one passkey once. */
export type Passkeys = { userId: string; held: readonly Passkey[]; removedIds: readonly string[] };

/** Null before the user is created. Total: an event that makes no sense in this state changes nothing. */
export function evolvePasskeys(state: Passkeys | null, { type, data }: UserEvent): Passkeys | null {
  if (type === 'UserCreated') return state ?? { userId: data.id, held: [], removedIds: [] };
  if (!state) return null;
  const { held, removedIds } = state;
  if (type === 'PasskeyRegistered') {
    const { at: registeredAt, ...passkey } = data;
    if (isKnown(state, passkey.id)) return state;
    return { ...state, held: [...held, { ...passkey, registeredAt }] };
  }
  if (type !== 'PasskeyRemoved' || !held.some(({ id }) => id === data.id)) return state;
  return { ...state, held: held.filter(({ id }) => id !== data.id), removedIds: [...removedIds, data.id] };
}

/** Whether it is, or ever was, a passkey of this user. */
export function isKnown({ held, removedIds }: Passkeys, passkeyId: string): boolean {
  return removedIds.includes(passkeyId) || held.some(({ id }) => id === passkeyId);
}

export const passkeyUseEvents = {
  /** `counter` is what the authenticator said: 0 from those that do not count, as synced passkeys. */
  PasskeyUsed: object({ at: utc, userId: string(), sessionId: string(), counter }),
};

export type PasskeyUseEvent = EventOf<typeof passkeyUseEvents>;

export const passkeyUseStreamPrefix = 'passkey-';
/** Hashed, because ids of credentials are long; with the user, so that nobody can write into the stream of another's. */
export const passkeyUseStream = (userId: string, passkeyId: string) =>
  `${passkeyUseStreamPrefix}${hash('sha256', `${userId} ${passkeyId}`)}`;
