// Staff of the tests, signed in to the console as people are: by the link of an email.
import { randomUUID } from 'node:crypto';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { createExecute } from '../../src/commands/execute.ts';
import { type GrantedScope, type UserCommand, userDecider, userIdOf } from '../../src/commands/user.ts';
import { type Role, userStream } from '../../src/events/user.ts';
import { transactionIdKey } from './app.ts';

/** A page that needs no Postgres: 404 for anyone signed in, while all others are sent to sign in. */
export const anyPage = '/console/payments/0';

export type Member = {
  id: string;
  cookie: string;
  /** As a browser would: with the cookie, from our own origin, and following nothing. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** A form of the console; its token is that of the session, and it is confirmed, unless the fields say otherwise. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** The page's HTML, whatever its status. */
  read(path: string): Promise<string>;
};

let users = 0;

/** Adds a user with the role, limited to the merchants if any are given; resolves to its id and address. */
export async function addUser(
  eventStore: EventStore,
  role: Role,
  name = `Staff, ${role}`,
  merchants?: readonly string[],
): Promise<{ id: string; email: string }> {
  users += 1;
  const email = `${role}-${users}@agency.example`;
  const id = userIdOf(transactionIdKey, email);
  await execute(eventStore, id, {
    type: 'CreateUser',
    at: new Date().toISOString(),
    id,
    user: { name, email, role },
    console: true,
    granted: merchants && { merchants, configured: merchants },
  });
  return { id, email };
}

/** As `ledger users` does. */
export async function changeUser(
  eventStore: EventStore,
  id: string,
  change:
    | { type: 'ChangeUserRole'; role: Role }
    | { type: 'GrantConsoleAccess'; granted: GrantedScope }
    | { type: 'DeactivateUser' | 'ReactivateUser' },
): Promise<void> {
  await execute(eventStore, id, { ...change, at: new Date().toISOString(), by: null });
}

async function execute(eventStore: EventStore, id: string, command: UserCommand): Promise<void> {
  const executeUser = createExecute({ eventStore, decider: userDecider });
  const commandId = randomUUID();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:tests' };
  await executeUser(userStream(id), command, cause);
}

type App = { url: string; eventStore: EventStore; mails: { to: string; text: string }[] };

/** Asks for a link; resolves to its path once the email is there. */
export async function askForLink({ url, mails }: Pick<App, 'url' | 'mails'>, email: string): Promise<string> {
  const before = mails.length;
  await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ email }),
    redirect: 'manual',
  });
  while (true) {
    const mail = mails.slice(before).find(({ to }) => to === email);
    const [link] = /http\S+\/console\/sign-in\/\S+/.exec(mail?.text ?? '') ?? [];
    if (link) return new URL(link).pathname;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A user with the role, limited to the merchants if any are given, signed in. */
export async function signIn(app: App, role: Role, merchants?: readonly string[]): Promise<Member> {
  const { id, email } = await addUser(app.eventStore, role, undefined, merchants);
  const path = await askForLink(app, email);
  const answer = await fetch(`${app.url}${path}`, { method: 'POST', redirect: 'manual' });
  return memberOf(app.url, id, cookieOf(answer));
}

/** One user for each role, in order. */
export async function signInAll<Roles extends readonly Role[]>(app: App, ...roles: Roles) {
  const members: Member[] = [];
  for (const role of roles) members.push(await signIn(app, role));
  return members as { [Each in keyof Roles]: Member };
}

/** Name and value of the cookie that an answer sets. */
export function cookieOf(answer: Response): string {
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

export function memberOf(url: string, id: string, cookie: string): Member {
  const get: Member['get'] = (path, headers = {}) =>
    fetch(`${url}${path}`, {
      headers: { accept: 'text/html', 'sec-fetch-site': 'same-origin', cookie, ...headers },
      redirect: 'manual',
    });
  let token: string | undefined;
  return {
    id,
    cookie,
    get,
    read: async (path) => await (await get(path)).text(),
    async post(path, fields = {}, headers = {}) {
      token ??= /name="token" value="([^"]+)"/.exec(await (await get(anyPage)).text())?.[1] ?? '';
      return fetch(`${url}${path}`, {
        method: 'POST',
        headers: { accept: 'text/html', cookie, origin: url, ...headers },
        body: new URLSearchParams({ token, confirmed: 'yes', ...fields }),
        redirect: 'manual',
      });
    },
  };
}
