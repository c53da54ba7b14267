/** The signed form that hands a payer over to the gateway, and the checksum on that form and on the gateway's results. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Attempt, PaymentRequested } from '../../events/payment.ts';
import { addSen, formatSen } from '../../kernel/money.ts';
import type { GatewayFields } from './read-result.ts';

/**
 * The CHECKSUM over all other fields: lower-case hex HMAC-SHA256 of the fields sorted by name, each name and value
 * percent-encoded as in RFC 3986, joined as `NAME=value` with `&`.
 */
export function signFields(fields: GatewayFields, secret: string): string {
  const signed = Object.entries(fields)
    .filter(([name]) => !isChecksum(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`)
    .join('&');
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** Compares the CHECKSUM that the fields carry with the right one, in constant time. */
export function verifyFields(fields: GatewayFields, secret: string): 'valid' | 'wrong' | 'missing' {
  const given = Object.entries(fields).find(([name]) => isChecksum(name))?.[1];
  if (given === undefined) return 'missing';
  const right = Buffer.from(signFields(fields, secret));
  const bytes = Buffer.from(given);
  return bytes.length === right.length && timingSafeEqual(bytes, right) ? 'valid' : 'wrong';
}

/** The signed form that takes a payer to the gateway, which collects the amount and the fee of the attempt. */
export function handOverFields(
  { request, attempt, responseUrl }: { request: PaymentRequested; attempt: Attempt; responseUrl: string },
  secret: string,
): GatewayFields {
  const fields = {
    MERCHANT_CODE: request.merchant.code,
    TRANS_ID: request.transactionId,
    MERCHANT_ORDER_NO: attempt.sellerOrderNo,
    AMOUNT: formatSen(addSen(request.amountSen, attempt.chargeSen)),
    PAYMENT_MODE: attempt.mode,
    BANK_CODE: attempt.bankCode,
    DESCRIPTION: request.description,
    BUYER_NAME: request.payer.name,
    BUYER_EMAIL: request.payer.email,
    RESPONSE_URL: responseUrl,
    // The land registry's own id of the payment.
    ...(request.channel === 'landreg' && { TRANSAKSI_ID: request.reference }),
  };
  return { ...fields, CHECKSUM: signFields(fields, secret) };
}

const isChecksum = (name: string) => name.toUpperCase() === 'CHECKSUM';

/** As in RFC 3986: encodeURIComponent leaves five reserved characters as they are. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
