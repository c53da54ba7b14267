/**
 * Recognises the same personal data without reading them: events hold a fingerprint beside what is sealed, so that the
 * same request is recognised when the keys cannot be read, and after they have been destroyed.
 */
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { type Held, isPlain, type Sealed } from './sealed.ts';

export type Fingerprint = (content: unknown) => string;

/**
 * HMAC-SHA256 over canonical JSON in NFC, under a key derived from `secret`: nobody without it can test whether a
 * fingerprint is that of somebody's data.
 */
export function createFingerprint(secret: string): Fingerprint {
  const key = createSecretKey(
    Buffer.from(hkdfSync('sha256', secret, '', 'fingerprint of personal data', 32)),
  );
  return (content) =>
    createHmac('sha256', key).update(canonicalJson(content).normalize()).digest('base64url');
}

type Fingerprinted<Content> = { fingerprint: string | null; content: Content };

/**
 * Whether what was given is what is held. Events from before there were fingerprints have none, and are compared as long
 * as their plain text is held; what has been erased from them counts as the same.
 */
export function isSameContent<T>(held: Fingerprinted<Held<T>>, given: Fingerprinted<Sealed<T>>): boolean {
  if (held.fingerprint !== null) return held.fingerprint === given.fingerprint;
  if (!isPlain(held.content)) return true;
  return isPlain(given.content) && canonicalJson(held.content.plain) === canonicalJson(given.content.plain);
}
