/** The signature of Standard Webhooks, version 1: https://www.standardwebhooks.com */
import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

/**
 * The header webhook-signature: one signature per secret, so that a receiver finds the one of the secret that it has
 * while secrets are being changed. A secret is `whsec_<base64>`, or text that is the key as it is. `timestamp` is in
 * seconds.
 */
export function signWebhook(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`)
    .join(' ');
}

function keyOf(secret: string): Buffer {
  return secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret, 'utf8');
}
