/** Sets a password without sending it: the statement, which PostgreSQL may log, has only what PostgreSQL keeps of it. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

const iterations = 4096;

/** For `alter role … password`: SCRAM-SHA-256, RFC 5803. The password is ASCII; `salt` are 16 random bytes. */
export function passwordVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyFor = (use: string) => createHmac('sha256', salted).update(use).digest();
  const storedKey = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const serverKey = keyFor('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
}
