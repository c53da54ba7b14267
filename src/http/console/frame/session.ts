/** Who is signed in. Session and user are read at every request: signing out or a new role takes effect immediately. */
import { hash } from 'node:crypto';
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import { isSameText } from '@ledger/kernel/same-text.ts';
import { type Head, headOf } from '../../../commands/execute.ts';
import { passkeyDecider } from '../../../commands/passkeys.ts';
import { loadSessionEnds, sessionDecider } from '../../../commands/session.ts';
import { userDecider } from '../../../commands/user.ts';
import type { Passkey } from '../../../events/passkeys.ts';
import { type Session, sessionStream } from '../../../events/session.ts';
import { type Account, maySignIn, type Scope, type User, userStream } from '../../../events/user.ts';
import type { Context, RequestState } from '../../server/context.ts';
import { createCookie } from '../../server/cookie.ts';
import type { Dependencies } from '../../server/dependencies.ts';

/** What the cookie says. The secret is stored nowhere else: the session's stream has its hash. */
type Ticket = { sessionId: string; secret: string };

export type Holder = User & { passkeys: readonly Passkey[] };

export type Staff = Holder & {
  merchants: Scope;
  ticket: Ticket;
  session: Session;
  /** The end of the session's stream when the request came in. */
  head: Head<Session | null>;
};

export type VisitorContext = Context & { state: RequestState & { staff?: Staff } };

/** A request of somebody who is signed in and has the permission that the route names. */
export type StaffContext = Context & { state: { staff: Staff } };

const idleMs = 30 * 60_000;
export const longestSessionMs = 12 * 60 * 60_000;
/** A cookie older than this is replaced, so that the idle time counts from the last use. */
const freshMs = 5 * 60_000;

const cookiePattern = /^(\w{26})\.([\w-]{43})\.(\d{13}\.[\w-]{43})$/;

export function createSessions({ config, eventStore, runtime }: Dependencies) {
  const { baseUrl, linkKeys, passkeysRequired } = config;
  const cookie = createCookie(baseUrl, 'console', '/console');
  // The secret gives access; the signature only limits how long the cookie may go unused.
  const cookies = createExpiringSignatures(linkKeys, 'console session');
  const forms = createExpiringSignatures(linkKeys, 'console form');
  const textOf = ({ sessionId, secret }: Ticket) => `${sessionId}.${secret}`;

  function issue(ctx: Context, ticket: Ticket, endsAt: string): void {
    const nowMs = runtime.now().getTime();
    const expiresAtMs = Math.min(nowMs + idleMs, Date.parse(endsAt));
    const value = `${textOf(ticket)}.${cookies.sign(textOf(ticket), expiresAtMs)}`;
    cookie.set(ctx, value, Math.floor((expiresAtMs - nowMs) / 1000));
  }

  return {
    issue,

    clear: (ctx: Context): void => cookie.set(ctx, '', 0),

    /** Who sent the request, or null; replaces the cookie when it is old. Throws EventStoreUnavailable. */
    async find(ctx: Context): Promise<Staff | null> {
      const [, sessionId = '', secret = '', signature = ''] = cookiePattern.exec(cookie.read(ctx)) ?? [];
      const ticket = { sessionId, secret };
      const now = runtime.now();
      if (cookies.check(signature, textOf(ticket), now) !== 'valid') return null;
      const found = await loadSession(eventStore, sessionId);
      if (!found || !isOpenFor(found.session, secret, now)) return null;
      const account = await loadHolder(eventStore, found);
      if (!account || !isEnoughFor(account, { ...found.session, sessionId, passkeysRequired })) return null;
      // What an open page requests by itself is no use of the session.
      const isUse = ctx.get('X-Background') === '' && ctx.path !== '/console/live';
      const isDue = Number.parseInt(signature, 10) - now.getTime() < idleMs - freshMs;
      if (isUse && isDue) issue(ctx, ticket, found.session.endsAt);
      const { active: _, console: __, ...user } = account;
      return { merchants: null, ...user, ticket, session: found.session, head: found.head };
    },

    formToken: ({ ticket, session }: Staff): string => forms.sign(textOf(ticket), Date.parse(session.endsAt)),

    isFormToken: (token: string, { ticket }: Staff): boolean =>
      forms.check(token, textOf(ticket), runtime.now()) === 'valid',
  };
}

/** Whether a session is open at a time, and this is its secret. */
const isOpenFor = ({ endsAt, secretHash, status }: Session, secret: string, now: Date) =>
  status === 'open' && now.toISOString() < endsAt && isSameText(secretHashOf(secret), secretHash ?? '');

/** Whether what a session was opened with is enough for its user by now. */
function isEnoughFor(
  { passkeys, role }: Holder,
  opened: Pick<Session, 'passkey'> & { sessionId: string; passkeysRequired: boolean },
): boolean {
  // The passkey may have been removed since.
  if (opened.passkey !== null) return passkeys.some(({ id }) => id === opened.passkey);
  // For example, a member who has become an admin.
  if (opened.passkeysRequired && role === 'admin') return false;
  // A session that the link alone opened ends when another session registers a passkey: it may be a stranger's.
  return passkeys.length === 0 || passkeys.some(({ sessionId }) => sessionId === opened.sessionId);
}

/** `begun` is the first event of the stream, which issued the link. */
type FoundSession = { session: Session; begun: RecordedEvent; head: Head<Session | null> };

/** The session of a stream, or null. Throws EventStoreUnavailable. */
export async function loadSession(eventStore: EventStore, id: string): Promise<FoundSession | null> {
  const events = await loadSessionEnds(eventStore, sessionStream(id));
  const head = headOf(events, sessionDecider);
  const { state: session } = head;
  return session && events[0] ? { session, begun: events[0], head } : null;
}

/** Null if the account was deactivated since the link was issued: by now, a stranger may hold that link or cookie. */
export async function loadHolder(
  eventStore: Pick<EventStore, 'load'>,
  { begun, session }: FoundSession,
): Promise<(Account & Holder) | null> {
  const history = await eventStore.load(userStream(session.userId));
  const account = accountOf(history);
  const deactivated = history.findLast(({ type }) => type === 'UserDeactivated');
  const wasDeactivatedSince = deactivated !== undefined && isAfter(deactivated.position, begun.position);
  return account && maySignIn(account) && !wasDeactivatedSince ? account : null;
}

/** What the session's stream keeps of the secret in the cookie. */
export const secretHashOf = (secret: string): string => hash('sha256', secret);

/** Null where there is no such user. Throws EventStoreUnavailable. */
export async function loadAccount(eventStore: Pick<EventStore, 'load'>, id: string) {
  return accountOf(await eventStore.load(userStream(id)));
}

/** A function from actors to the names of staff among them; others are shown as they are. */
export async function actorNames(eventStore: Pick<EventStore, 'load'>, actors: readonly (string | null)[]) {
  const names = new Map<string | null, string>();
  const load = async (actor: string | null) => {
    const [, id] = /^staff:([0-9A-HJKMNP-TV-Z]{26})$/.exec(actor ?? '') ?? [];
    const account = id === undefined ? null : await loadAccount(eventStore, id);
    if (account) names.set(actor, account.name);
  };
  await Promise.all(Array.from(new Set(actors), load));
  return (actor: string | null) => names.get(actor) ?? actor ?? '';
}

function accountOf(history: readonly RecordedEvent[]): (Account & Holder) | null {
  const { state: account } = headOf(history, userDecider);
  return account && { ...account, passkeys: headOf(history, passkeyDecider).state?.held ?? [] };
}
