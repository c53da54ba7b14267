// Decisions about a session of the console: given events, a command, and what it adds or why not.
import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { headOf } from '../../src/commands/execute.ts';
import { passkeyDecider } from '../../src/commands/passkeys.ts';
import { type SessionCommand, sessionDecider } from '../../src/commands/session.ts';
import { settlementDecider } from '../../src/commands/settlement.ts';
import { userDecider } from '../../src/commands/user.ts';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { chain, genesisHash } from '../../src/events/envelope.ts';
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

const cause = { commandId: randomUUID(), correlationId: 'x', causationId: 'x', actor: 'staff:U' };
const stored = (events: Parameters<typeof chain>[0]): RecordedEvent[] =>
  chain(events, genesisHash, cause).map((event, revision) => ({
    ...event,
    revision,
    streamName: 'stream',
    position: { commit: 1n, prepare: 1n },
    created: new Date(at),
  }));
const viewed = (what: 'payer' | 'search'): SessionEvent => ({
  type: 'PersonalDataViewed',
  data: { at, userId: 'U', what, transactionId: null, detail: '' },
});
const wasChanged = {
  instanceOf: UnreadableEvent,
  message: /revision \d+ of \S+ was changed, or does not follow/,
};

test('a session is folded from its ends, and not if one of them was changed or was not written after the other', (t) => {
  const all = stored([issued, signedIn, viewed('payer'), viewed('search'), signedOut]);
  const ends = [...all.slice(0, 2), ...all.slice(-1)];
  t.is(headOf(ends, sessionDecider).state?.status, 'over');
  t.is(headOf(all.slice(0, 2), sessionDecider).state?.status, 'open');
  t.deepEqual(headOf([...all.slice(0, 1), ...all.slice(0, 1)], sessionDecider).revision, 0);
  for (const index of ends.keys()) {
    const changed = ends.map((event, each) =>
      each === index ? { ...event, data: { ...Object(event.data), userId: 'V' } } : event,
    );
    t.throws(() => headOf(changed, sessionDecider), wasChanged, String(index));
  }
  const [first] = all;
  const [, foreign] = stored([{ ...issued, data: { ...issued.data, userId: 'V' } }, signedIn]);
  t.throws(
    () =>
      headOf(
        [first, foreign].filter((it) => it !== undefined),
        sessionDecider,
      ),
    wasChanged,
  );
});

test('an account or a settlement of whose events one is missing or was changed is not folded', (t) => {
  const created = { at, id: 'U', name: 'Siti', email: 'siti@agency.example', role: 'viewer' };
  const user = stored([
    { type: 'UserCreated', data: created },
    { type: 'UserDeactivated', data: { at } },
    { type: 'UserReactivated', data: { at } },
  ]);
  t.true(headOf(user, userDecider).state?.active);
  t.throws(() => headOf(user.toSpliced(1, 1), userDecider), wasChanged);
  const [first, ...others] = user;
  const admin = [{ ...first, data: { ...created, role: 'admin' } } as RecordedEvent, ...others];
  t.throws(() => headOf(admin, userDecider), wasChanged);
  t.throws(() => headOf(admin, passkeyDecider), wasChanged);
  t.throws(() => headOf(user.slice(1), settlementDecider), wasChanged);
});
