// What may happen in a session of the console: given events, a command, and what it adds or why not.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { type SessionCommand, sessionDecider } from '../../src/commands/session.ts';
import type { Session, SessionEvent } from '../../src/events/session.ts';

const at = '2026-11-20T01:00:00.000Z';
const endsAt = '2026-11-20T13:00:00.000Z';
const signedIn: SessionEvent = { type: 'SignedIn', data: { at, userId: 'U', endsAt } };
const signedOut: SessionEvent = { type: 'SignedOut', data: { at } };
const signIn: SessionCommand = { type: 'SignIn', at, userId: 'V', endsAt };
const signOut: SessionCommand = { type: 'SignOut', at };
const view: SessionCommand = {
  type: 'ViewPersonalData',
  at,
  what: 'payer',
  transactionId: 'T',
  detail: '',
};

function decide(given: readonly SessionEvent[], command: SessionCommand) {
  const state = given.reduce<Session | null>(sessionDecider.evolve, sessionDecider.initial);
  const decided = sessionDecider.decide(command, state);
  return decided instanceof Refused ? decided.code : decided;
}

test('a link makes one session, whoever uses it again and whatever became of it', (t) => {
  t.deepEqual(decide([], signIn), [{ type: 'SignedIn', data: { at, userId: 'V', endsAt } }]);
  t.is(decide([signedIn], signIn), 'link_used');
  t.is(decide([signedIn, signedOut], signIn), 'link_used');
});

test('a look is under the name of whoever signed in, and only while the session lasts', (t) => {
  t.deepEqual(decide([signedIn], view), [
    { type: 'PersonalDataViewed', data: { at, userId: 'U', what: 'payer', transactionId: 'T', detail: '' } },
  ]);
  t.is(decide([], view), 'session_over');
  t.is(decide([signedIn, signedOut], view), 'session_over');
  t.is(decide([signedIn], { ...view, at: endsAt }), 'session_over');
});

test('signing out is once', (t) => {
  t.deepEqual(decide([signedIn], signOut), [signedOut]);
  t.deepEqual(decide([signedIn, signedOut], signOut), []);
  t.deepEqual(decide([], signOut), []);
});

test('a beginning that comes twice, and an end without a beginning, change nothing', (t) => {
  const [one, other] = [signedIn, { ...signedIn, data: { ...signedIn.data, userId: 'X' } } as SessionEvent];
  const fold = (...events: SessionEvent[]) => events.reduce<Session | null>(sessionDecider.evolve, null);
  t.deepEqual(fold(one, other), fold(one));
  t.is(fold(signedOut), null);
});
