/** The token of a link to sign in: for one user, for a quarter of an hour, and it names the one session that it can make. */
import { randomBytes } from 'node:crypto';
import { derivedId } from '../../../commands/derived-id.ts';
import { createExpiringSignatures } from '../../../receipts/expiring-signature.ts';

export const linkLifetimeMs = 15 * 60_000;

const form = /^(\w{26})\.([\w-]{22})\.(\d{13}\.[\w-]{43})$/;

export type ReadLink = { userId: string; sessionId: string } | 'expired' | 'invalid';

export function createSignInLinks({
  clock,
  transactionIdKey,
}: {
  clock: () => Date;
  transactionIdKey: string;
}) {
  const signatures = createExpiringSignatures(transactionIdKey, 'console sign-in link');
  return {
    /** A new token for a user. */
    issue(userId: string): string {
      const said = `${userId}.${randomBytes(16).toString('base64url')}`;
      return `${said}.${signatures.sign(said, clock().getTime() + linkLifetimeMs)}`;
    },

    /** Whom it lets in. Whether it was used already, its session's stream knows. */
    read(token: string): ReadLink {
      const [, userId = '', nonce = '', signature = ''] = form.exec(token) ?? [];
      const checked = signatures.check(signature, `${userId}.${nonce}`, clock());
      // Derived, so that who sees the name of a stream has no part of a link.
      return checked === 'valid'
        ? { userId, sessionId: derivedId(transactionIdKey, ['session', nonce]) }
        : checked;
    },
  };
}
