/** The accounts of the roles in PostgreSQL, which `ledger database grants` makes. They are named after the database. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/** What has an account; `readers` is a group. */
type Holder = 'http' | 'projections' | 'reactors' | 'readers';

export const accountOf = (database: string, holder: Holder): string => `${database}_${holder}`;

/** The same name as an expression in SQL. */
export const accountIn = (holder: Holder): string => `(current_database() || '_${holder}')`;

const iterations = 4096;

/**
 * What PostgreSQL keeps of a password of ASCII characters (SCRAM-SHA-256, RFC 5803), so that the password itself is in no
 * statement, and so in no log. `salt` are 16 random bytes.
 */
export function passwordVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyFor = (use: string) => createHmac('sha256', salted).update(use).digest();
  const stored = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const base64Salt = Buffer.from(salt).toString('base64');
  return `SCRAM-SHA-256$${iterations}:${base64Salt}$${stored}:${keyFor('Server Key').toString('base64')}`;
}
