/** The cookie that stands for a session: signed, short-lived, and worth nothing once the session's stream says it is over. */
import { createExpiringSignatures } from '../../../receipts/expiring-signature.ts';
import type { Context } from '../../context.ts';
import type { Ticket } from './staff.ts';

export const idleMs = 30 * 60_000;
export const longestMs = 12 * 60 * 60_000;
/** A cookie that is older is replaced, so that the time of idleness counts from the last use. */
const freshMs = 5 * 60_000;

const form = /^(\w{26})\.(\w{26})\.(\d{13})\.(\d{13}\.[\w-]{43})$/;

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
  const isSecure = baseUrl.startsWith('https:');
  // With this prefix browsers take it from this host alone, over TLS, and for no narrower path.
  const name = isSecure ? '__Host-console' : 'console';
  const attributes = isSecure ? 'Path=/; Secure' : 'Path=/console';
  const values = createExpiringSignatures(transactionIdKey, 'console session');
  const tokens = createExpiringSignatures(transactionIdKey, 'console form');
  const said = ({ sessionId, userId, endsAtMs }: Ticket) => `${sessionId}.${userId}.${endsAtMs}`;

  // Lax: a link in an email leads into the console, and no other site can post into it.
  const set = (ctx: Context, value: string, maxAgeSeconds: number) =>
    ctx.append(
      'Set-Cookie',
      `${name}=${value}; ${attributes}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`,
    );

  return {
    issue(ctx: Context, ticket: Ticket): void {
      const nowMs = clock().getTime();
      const expiresAtMs = Math.min(nowMs + idleMs, ticket.endsAtMs);
      const value = `${said(ticket)}.${values.sign(said(ticket), expiresAtMs)}`;
      set(ctx, value, Math.floor((expiresAtMs - nowMs) / 1000));
    },

    /** Null for a cookie that is missing, not ours or too old. */
    read(ctx: Context): { ticket: Ticket; isDue: boolean } | null {
      const [, sessionId = '', userId = '', endsAt = '', signature = ''] =
        form.exec(ctx.cookies.get(name) ?? '') ?? [];
      const ticket = { sessionId, userId, endsAtMs: Number(endsAt) };
      if (values.check(signature, said(ticket), clock()) !== 'valid') return null;
      const expiresAtMs = Number.parseInt(signature, 10);
      const isDue = expiresAtMs - clock().getTime() < idleMs - freshMs && expiresAtMs < ticket.endsAtMs;
      return { ticket, isDue };
    },

    clear: (ctx: Context): void => set(ctx, '', 0),

    /** For the forms of this session and of no other. */
    formToken: (ticket: Ticket): string => tokens.sign(said(ticket), ticket.endsAtMs),

    isFormToken: (token: string, ticket: Ticket): boolean =>
      tokens.check(token, said(ticket), clock()) === 'valid',
  };
}
