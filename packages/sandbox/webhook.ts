/**
 * Checks a callback as Standard Webhooks says (https://www.standardwebhooks.com). An implementation of its own, so that it
 * also checks the service's.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type Webhook = { id: string; timestamp: string; signatures: string; body: string };

const toleranceSeconds = 300;

/** `genuine`, or what is wrong with it, in a few words. A secret is `whsec_<base64>`, or text that is itself the key. */
export function verdictOn(
  { id, timestamp, signatures, body }: Webhook,
  secrets: readonly string[],
  nowMs: number,
): string {
  if (signatures === '') return 'not signed';
  const given = signatures.split(' ').flatMap((each) => {
    const [version, base64 = ''] = each.split(',');
    return version === 'v1' ? [Buffer.from(base64, 'base64')] : [];
  });
  const isSigned = secrets.some((secret) => {
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
    const right = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
    return given.some((each) => each.length === right.length && timingSafeEqual(each, right));
  });
  if (!isSigned) return 'signed with another secret, or changed';
  const isRecent = Math.abs(nowMs / 1000 - Number(timestamp)) < toleranceSeconds;
  return isRecent ? 'genuine' : 'signed more than five minutes ago';
}
