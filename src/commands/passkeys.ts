/** Decisions about the passkeys of a user. The events are in src/events/user.ts and src/events/passkeys.ts. */
import {
  type Passkey,
  type Passkeys,
  type PasskeyUseEvent,
  passkeyFold,
  passkeyUseFold,
} from '../events/passkeys.ts';
import type { UserEvent } from '../events/user.ts';
import { type Decider, Refused } from './decider.ts';

const maxPasskeys = 10;

export type PasskeyCommand =
  /** `asFirst`: refused if the user has one. Of two browsers with the same link, only one may register. */
  | { type: 'RegisterPasskey'; at: string; passkey: Omit<Passkey, 'registeredAt'>; asFirst: boolean }
  /** `id` is null for all. `keepsOne`: removing the last one is refused, because the user could not sign in without. */
  | { type: 'RemovePasskeys'; at: string; id: string | null; keepsOne: boolean };

export const passkeyDecider: Decider<Passkeys | null, PasskeyCommand, UserEvent> = {
  ...passkeyFold,
  decide(command, state) {
    if (!state) return new Refused('unknown_user', 'There is no such user');
    const { held, removedIds } = state;
    const { at } = command;
    if (command.type === 'RemovePasskeys') {
      const removed = held.filter(({ id }) => command.id === null || id === command.id);
      if (command.keepsOne && removed.length > 0 && removed.length === held.length)
        return new Refused('last_passkey', 'You need a passkey: register another one first');
      return removed.map(({ id }) => ({ type: 'PasskeyRemoved', data: { at, id } }));
    }
    const { asFirst, passkey } = command;
    if (asFirst && held.length > 0)
      return new Refused('passkey_refused', 'You have a passkey already: open the link again and use it');
    if (removedIds.includes(passkey.id) || held.some(({ id }) => id === passkey.id))
      return new Refused('passkey_refused', 'This passkey is, or was, registered already');
    if (held.length >= maxPasskeys)
      return new Refused('too_many_passkeys', `You have ${maxPasskeys} passkeys: remove one first`);
    return [{ type: 'PasskeyRegistered', data: { at, ...passkey } }];
  },
};

type Use = PasskeyUseEvent['data'];

/** `registeredCounter` is what the authenticator counted when it registered the passkey. */
export const passkeyUseDecider: Decider<Use | null, Use & { registeredCounter: number }, PasskeyUseEvent> = {
  ...passkeyUseFold,
  readsPart: true,
  decide({ registeredCounter, ...data }, last) {
    // The same answer again: an outage kept the session from opening, or the button was pressed twice.
    if (last?.sessionId === data.sessionId && last.counter === data.counter) return [];
    const counted = last?.counter ?? registeredCounter;
    if ((data.counter > 0 || counted > 0) && data.counter <= counted)
      return new Refused('passkey_refused', 'The counter of the passkey went back: there is a copy of it');
    return [{ type: 'PasskeyUsed', data }];
  },
};
