/** The passkeys of a user, folded from the user's stream; and the uses of each, in a stream of its own. */
import { hash } from 'node:crypto';
import { counter, type EventOf, utc } from '@ledger/kernel/structs.ts';
import { object, string } from 'superstruct';
import type { UserEvent } from './user.ts';

type Registered = Extract<UserEvent, { type: 'PasskeyRegistered' }>['data'];
export type Passkey = Omit<Registered, 'at'> & { registeredAt: string };

/** `removedIds` are never registered again: an answer of a browser registers a passkey once. */
export type Passkeys = { held: readonly Passkey[]; removedIds: readonly string[] };

/** Null before the user is created. Total: an event that makes no sense in this state changes nothing. */
export function evolvePasskeys(state: Passkeys | null, { type, data }: UserEvent): Passkeys | null {
  if (type === 'UserCreated') return state ?? { held: [], removedIds: [] };
  if (!state || (type !== 'PasskeyRegistered' && type !== 'PasskeyRemoved')) return state;
  const { held, removedIds } = state;
  const isHeld = held.some(({ id }) => id === data.id);
  if (type === 'PasskeyRemoved')
    return isHeld
      ? { held: held.filter(({ id }) => id !== data.id), removedIds: [...removedIds, data.id] }
      : state;
  const { at: registeredAt, ...passkey } = data;
  return isHeld || removedIds.includes(data.id)
    ? state
    : { held: [...held, { ...passkey, registeredAt }], removedIds };
}

export const passkeyUseEvents = {
  /** `counter` is what the authenticator said: 0 from those that do not count, as for synced passkeys. */
  PasskeyUsed: object({ at: utc, userId: string(), sessionId: string(), counter }),
};

export type PasskeyUseEvent = EventOf<typeof passkeyUseEvents>;

export const passkeyUseStreamPrefix = 'passkey-';
/** Hashed, because ids of passkeys are long; with the user, so that nobody can write into the stream of another's. */
export const passkeyUseStream = (userId: string, passkeyId: string) =>
  `${passkeyUseStreamPrefix}${hash('sha256', `${userId} ${passkeyId}`)}`;
