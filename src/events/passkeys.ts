/** The passkeys of a user, folded from the user's stream; and the uses of each, in a stream of its own. */
import { hash } from 'node:crypto';
import { counter, type EventOf, utc } from '@ledger/kernel/structs.ts';
import { object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';
import { type UserEvent, userFold } from './user.ts';

type Registered = Extract<UserEvent, { type: 'PasskeyRegistered' }>['data'];
export type Passkey = Omit<Registered, 'at'> & { registeredAt: string };

/** `removedIds` are never registered again: the browser's answer to a registration must not work twice. */
export type Passkeys = { held: readonly Passkey[]; removedIds: readonly string[] };

/** The state is null before the user is created. */
export const passkeyFold: Fold<Passkeys | null, UserEvent> = {
  ...userFold,
  initial: null,
  evolve(state, { type, data }) {
    if (type === 'UserCreated') return state ?? { held: [], removedIds: [] };
    if (!state || (type !== 'PasskeyRegistered' && type !== 'PasskeyRemoved')) return state;
    const { held, removedIds } = state;
    const others = held.filter(({ id }) => id !== data.id);
    const isHeld = others.length < held.length;
    if (type === 'PasskeyRemoved')
      return isHeld ? { held: others, removedIds: [...removedIds, data.id] } : state;
    if (isHeld || removedIds.includes(data.id)) return state;
    const { at: registeredAt, ...passkey } = data;
    return { held: [...held, { ...passkey, registeredAt }], removedIds };
  },
};

export const passkeyUseEvents = {
  /** `counter` is what the authenticator said: 0 from those that do not count, as for synced passkeys. */
  PasskeyUsed: object({ at: utc, userId: string(), sessionId: string(), counter }),
};

export type PasskeyUseEvent = EventOf<typeof passkeyUseEvents>;

/** The state is the last use. */
export const passkeyUseFold: Fold<PasskeyUseEvent['data'] | null, PasskeyUseEvent> = {
  prefix: 'passkey-',
  initial: null,
  read: readerOf(passkeyUseEvents),
  evolve: (_, { data }) => data,
};
/** Hashed, because ids of passkeys are long; with the user, so that nobody writes into another user's stream. */
export const passkeyUseStream = (userId: string, passkeyId: string) =>
  `${passkeyUseFold.prefix}${hash('sha256', `${userId} ${passkeyId}`)}`;
