/** The signed form that hands a payer over to the gateway, and the checksum on that form and on the gateway's results. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { formatSen, type Sen } from '../../kernel/money.ts';
import type { PaymentMode } from '../../kernel/payment-modes.ts';
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

/** The signed form that takes a payer to the gateway; `totalSen` is what the gateway collects, including the fee. */
export function handOverFields(
  order: {
    merchantCode: string;
    transactionId: string;
    sellerOrderNo: string;
    totalSen: Sen;
    mode: PaymentMode;
    bankCode: string;
    description: string;
    buyerName: string;
    buyerEmail: string;
    responseUrl: string;
    /** The land registry's own id of the payment; `''` on the generic channel. */
    transaksiId: string;
  },
  secret: string,
): GatewayFields {
  const fields = {
    MERCHANT_CODE: order.merchantCode,
    TRANS_ID: order.transactionId,
    MERCHANT_ORDER_NO: order.sellerOrderNo,
    AMOUNT: formatSen(order.totalSen),
    PAYMENT_MODE: order.mode,
    BANK_CODE: order.bankCode,
    DESCRIPTION: order.description,
    BUYER_NAME: order.buyerName,
    BUYER_EMAIL: order.buyerEmail,
    RESPONSE_URL: order.responseUrl,
    ...(order.transaksiId !== '' && { TRANSAKSI_ID: order.transaksiId }),
  };
  return { ...fields, CHECKSUM: signFields(fields, secret) };
}

function isChecksum(name: string): boolean {
  return name.toUpperCase() === 'CHECKSUM';
}

/** As in RFC 3986: encodeURIComponent leaves five reserved characters as they are. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
