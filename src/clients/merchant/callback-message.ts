/** A callback as it is sent to a merchant: in the merchant's format, and signed as Standard Webhooks says. */
import { Webhook } from 'standardwebhooks';
import type { Merchant } from '../../config/merchants.ts';

/** `id` is the same at every attempt. A merchant that is no longer registered gets plain JSON. */
export function callbackMessage(
  fields: Readonly<Record<string, string>>,
  merchant: Pick<Merchant, 'webhookSecrets' | 'callbackFormat'> | undefined,
  { id, correlationId, now }: { id: string; correlationId: string; now: Date },
): { headers: Record<string, string>; body: string } {
  const isForm = merchant?.callbackFormat === 'form';
  const body = isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields);
  const secrets = merchant?.webhookSecrets ?? [];
  const headers = {
    'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'user-agent': 'payment-ledger',
    'x-correlation-id': correlationId,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    ...(secrets.length > 0 && { 'webhook-signature': signaturesOf(secrets, { id, now, body }) }),
  };
  return { headers, body };
}

/**
 * Standard Webhooks (https://www.standardwebhooks.com): one signature per secret, so that during a change of secrets a
 * receiver finds the one for its own. A secret is `whsec_<base64>`, or text that is itself the key.
 */
export function signaturesOf(
  secrets: readonly string[],
  { id, now, body }: { id: string; now: Date; body: string },
): string {
  return secrets
    .map((secret) =>
      secret.startsWith('whsec_')
        ? Buffer.from(secret.slice('whsec_'.length), 'base64')
        : Buffer.from(secret, 'utf8'),
    )
    .map((key) => new Webhook(key, { format: 'raw' }).sign(id, now, body))
    .join(' ');
}
