/** Cookies of the console, and the one that stands for a session: short-lived, and worth nothing once its stream says it is over. */
import { createExpiringSignatures } from '../../../kernel/expiring-signature.ts';
import type { Context } from '../../server/context.ts';
import type { Ticket } from './staff.ts';

const idleMs = 30 * 60_000;
export const longestMs = 12 * 60 * 60_000;
/** A cookie that is older is replaced, so that the time of idleness counts from the last use. */
const freshMs = 5 * 60_000;

const form = /^(\w{26})\.([\w-]{43})\.(\d{13}\.[\w-]{43})$/;

/** A cookie of that name, out of reach of scripts. Values must be free of `;` and the like. */
export function createCookie(baseUrl: string, plainName: string) {
  const isSecure = baseUrl.startsWith('https:');
  // With this prefix browsers take it from this host alone, over TLS, and for no narrower path.
  const name = isSecure ? `__Host-${plainName}` : plainName;
  const attributes = isSecure ? 'Path=/; Secure' : 'Path=/console';
  return {
    read: (ctx: Context): string => ctx.cookies.get(name) ?? '',

    // Lax: a link in an email leads into the console, and no other site can post into it.
    set: (ctx: Context, value: string, maxAgeSeconds: number): void =>
      ctx.append(
        'Set-Cookie',
        `${name}=${value}; ${attributes}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`,
      ),
  };
}

export type SessionCookies = ReturnType<typeof createSessionCookies>;

export function createSessionCookies({
  baseUrl,
  clock,
  transactionIdKey,
}: {
  baseUrl: string;
  clock: () => Date;
  transactionIdKey: string;
}) {
  const cookie = createCookie(baseUrl, 'console');
  // The secret lets in; the signature says how long the cookie was not used, and no more hangs on its key.
  const values = createExpiringSignatures(transactionIdKey, 'console session');
  const tokens = createExpiringSignatures(transactionIdKey, 'console form');
  const said = ({ sessionId, secret }: Ticket) => `${sessionId}.${secret}`;

  return {
    issue(ctx: Context, ticket: Ticket, endsAt: string): void {
      const nowMs = clock().getTime();
      const expiresAtMs = Math.min(nowMs + idleMs, Date.parse(endsAt));
      const value = `${said(ticket)}.${values.sign(said(ticket), expiresAtMs)}`;
      cookie.set(ctx, value, Math.floor((expiresAtMs - nowMs) / 1000));
    },

    /** Null for a cookie that is missing, not ours or too old. Whether its secret is right, the session's stream knows. */
    read(ctx: Context): { ticket: Ticket; isDue: boolean } | null {
      const [, sessionId = '', secret = '', signature = ''] = form.exec(cookie.read(ctx)) ?? [];
      const ticket = { sessionId, secret };
      if (values.check(signature, said(ticket), clock()) !== 'valid') return null;
      return { ticket, isDue: Number.parseInt(signature, 10) - clock().getTime() < idleMs - freshMs };
    },

    clear: (ctx: Context): void => cookie.set(ctx, '', 0),

    /** For the forms of this session and of no other. */
    formToken: (ticket: Ticket, endsAt: string): string => tokens.sign(said(ticket), Date.parse(endsAt)),

    isFormToken: (token: string, ticket: Ticket): boolean =>
      tokens.check(token, said(ticket), clock()) === 'valid',
  };
}
