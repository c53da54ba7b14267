/** Decisions about the passkeys of a user. The events are in src/events/user.ts and src/events/passkeys.ts. */
import { readPasskeyUse, readUserEvent } from '../events/codec.ts';
import {
  evolvePasskeys,
  isKnown,
  type Passkey,
  type Passkeys,
  type PasskeyUseEvent,
} from '../events/passkeys.ts';
import type { UserEvent } from '../events/user.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute } from './execute.ts';

const maxPasskeys = 10;

export type RegisterPasskey = { type: 'RegisterPasskey'; at: string; passkey: Omit<Passkey, 'registeredAt'> };
/** By its holder. `keepsOne`: the holder could not sign in without a passkey. */
export type RemovePasskey = { type: 'RemovePasskey'; at: string; id: string; keepsOne: boolean };
/** All of a user. `by` is the id of the admin who asks, null for staff at the command line. */
export type RemovePasskeys = { type: 'RemovePasskeys'; at: string; by: string | null };

export type PasskeyCommand = RegisterPasskey | RemovePasskey | RemovePasskeys;

export const passkeyDecider: Decider<Passkeys | null, PasskeyCommand, UserEvent> = {
  initial: null,
  read: readUserEvent,
  evolve: evolvePasskeys,
  decide(command, state) {
    if (!state) return new Refused('unknown_user', 'There is no such user');
    const { at } = command;
    switch (command.type) {
      case 'RegisterPasskey':
        if (isKnown(state, command.passkey.id))
          return new Refused('passkey_refused', 'This passkey is, or was, registered already');
        if (state.held.length >= maxPasskeys)
          return new Refused('too_many_passkeys', `You have ${maxPasskeys} passkeys: remove one first`);
        return [{ type: 'PasskeyRegistered', data: { at, ...command.passkey } }];
      case 'RemovePasskey':
        if (!state.held.some(({ id }) => id === command.id)) return [];
        if (command.keepsOne && state.held.length === 1)
          return new Refused(
            'last_passkey',
            'An admin needs a passkey: register another before this one goes',
          );
        return [{ type: 'PasskeyRemoved', data: { at, id: command.id } }];
      case 'RemovePasskeys':
        if (command.by === state.userId)
          return new Refused('own_account', 'You cannot do this to your own account: ask another admin');
        return state.held.map(({ id }) => ({ type: 'PasskeyRemoved', data: { at, id } }));
      default:
        return command satisfies never;
    }
  },
};

/** `registeredCounter` is what the authenticator counted when the passkey was registered. */
type UsePasskey = PasskeyUseEvent['data'] & { registeredCounter: number };

/** The state is the last use. */
export const passkeyUseDecider: Decider<PasskeyUseEvent['data'] | null, UsePasskey, PasskeyUseEvent> = {
  initial: null,
  read: readPasskeyUse,
  evolve: (_, { data }) => data,
  decide({ registeredCounter, ...data }, last) {
    const counted = last?.counter ?? registeredCounter;
    const isCounting = data.counter > 0 || counted > 0;
    if (isCounting && data.counter <= counted)
      return new Refused('passkey_refused', 'The counter of the passkey went back: there is a copy of it');
    return [{ type: 'PasskeyUsed', data }];
  },
};

/** Reads the last use only, however many there were. */
export function createExecutePasskeyUse(eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>) {
  const load = async (streamName: string) => {
    const last = await eventStore.loadLast(streamName);
    return last ? [last] : [];
  };
  return createExecute({ eventStore, decider: passkeyUseDecider, load });
}
