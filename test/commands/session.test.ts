// Decisions about a session of the console: given events, a command, and what it adds or why not.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { type SessionCommand, sessionDecider } from '../../src/commands/session.ts';
import type { Session, SessionEvent } from '../../src/events/session.ts';

const at = '2026-11-20T01:00:00.000Z';
const endsAt = '2026-11-20T13:00:00.000Z';
const expiresAt = '2026-11-20T01:15:00.000Z';
const issued: SessionEvent = { type: 'SignInLinkIssued', data: { at, userId: 'U', expiresAt } };
const secretHash = 'h';
const signedIn: SessionEvent = { type: 'SignedIn', data: { at, userId: 'U', endsAt, secretHash } };
const signedOut: SessionEvent = { type: 'SignedOut', data: { at } };
const issue: SessionCommand = { type: 'IssueSignInLink', at, userId: 'U', expiresAt };
const signIn: SessionCommand = { type: 'SignIn', at, endsAt, secretHash, passkey: null };
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

test('a link makes one session, however often it is used', (t) => {
  t.deepEqual(decide([], issue), [issued]);
  t.deepEqual(decide([issued], signIn), [signedIn]);
  t.is(decide([issued, signedIn], signIn), 'link_over');
  t.is(decide([issued, signedIn, signedOut], signIn), 'link_over');
  t.deepEqual(decide([issued, signedIn], issue), []);
});

test('a session names the passkey that opened it', (t) => {
  const withPasskey = { ...signedIn, data: { ...signedIn.data, passkey: 'P' } } as SessionEvent;
  t.deepEqual(decide([issued], { ...signIn, passkey: 'P' } as SessionCommand), [withPasskey]);
  t.is(sessionDecider.evolve(null, withPasskey)?.passkey, 'P');
});

test('a link that was not issued, or that has expired, makes no session', (t) => {
  t.is(decide([], signIn), 'unknown_link');
  t.is(decide([issued], { ...signIn, at: expiresAt }), 'link_over');
});

test('an access is recorded under the user who signed in, and only while the session is open', (t) => {
  t.deepEqual(decide([signedIn], view), [
    { type: 'PersonalDataViewed', data: { at, userId: 'U', what: 'payer', transactionId: 'T', detail: '' } },
  ]);
  t.is(decide([], view), 'session_over');
  t.is(decide([issued], view), 'session_over');
  t.is(decide([signedIn, signedOut], view), 'session_over');
  t.is(decide([signedIn], { ...view, at: endsAt }), 'session_over');
});

test('signing out is recorded once', (t) => {
  t.deepEqual(decide([signedIn], signOut), [signedOut]);
  t.deepEqual(decide([signedIn, signedOut], signOut), []);
  t.deepEqual(decide([], signOut), []);
  t.deepEqual(decide([issued], signOut), []);
});

test('a second beginning, and an end without a beginning, change nothing', (t) => {
  const [one, other] = [signedIn, { ...signedIn, data: { ...signedIn.data, userId: 'X' } } as SessionEvent];
  const fold = (...events: SessionEvent[]) => events.reduce<Session | null>(sessionDecider.evolve, null);
  t.deepEqual(fold(one, other), fold(one));
  t.deepEqual(fold(one, issued), fold(one));
  t.is(fold(signedOut), null);
});
