/** The payment gateway's wire: the form a payer is handed over with, the result that comes back, and the checksum on both. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readGatewayTime } from '../events/malaysian-time.ts';
import { formatSen, readAmount, type Sen } from '../events/money.ts';
import { type Outcome, type PaymentMode, type PaymentResult, paymentModes } from '../events/payment.ts';

/** Fields of a form as they travel: every name once, in any case; names and values are well-formed Unicode. */
export type GatewayFields = Readonly<Record<string, string>>;

export type GatewayResult = { transactionId: string; merchantCode: string; result: PaymentResult };

/** Longer texts of a result are cut in what we make of it; the raw fields stay whole. Code points. */
const maxTextLength = 200;

const outcomeOfStatus: Readonly<Record<string, Outcome>> = {
  '0': 'failed',
  '1': 'succeeded',
  '2': 'cancelled',
  '3': 'pending',
};

/**
 * The CHECKSUM of the fields (itself left out): lower-case hex HMAC-SHA256 over all of them sorted by name, each
 * name and value percent-encoded as in RFC 3986, joined as `NAME=value` with `&`.
 */
export function signFields(fields: GatewayFields, secret: string): string {
  const signed = Object.entries(fields)
    .filter(([name]) => !isChecksum(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`)
    .join('&');
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** Whether the fields carry the checksum that `signFields` gives them, compared in constant time. */
export function verifyFields(fields: GatewayFields, secret: string): 'valid' | 'wrong' | 'missing' {
  const given = Object.entries(fields).find(([name]) => isChecksum(name))?.[1];
  if (given === undefined) return 'missing';
  const right = Buffer.from(signFields(fields, secret));
  const bytes = Buffer.from(given);
  return bytes.length === right.length && timingSafeEqual(bytes, right) ? 'valid' : 'wrong';
}

/**
 * Reads a result, field names in any case; null when STATUS is none of the documented four. An amount or time
 * that cannot be read is null in the result: such an amount never equals what was asked.
 */
export function readGatewayResult(fields: GatewayFields): GatewayResult | null {
  const byName = new Map(Object.entries(fields).map(([name, value]) => [name.toUpperCase(), value]));
  const text = (name: string) => oneLine(byName.get(name) ?? '');
  const status = text('STATUS');
  const outcome = Object.hasOwn(outcomeOfStatus, status) ? outcomeOfStatus[status] : undefined;
  if (!outcome) return null;
  return {
    transactionId: text('TRANS_ID'),
    merchantCode: text('MERCHANT_CODE'),
    result: {
      outcome,
      mode: readMode(text('PAYMENT_MODE')),
      sellerOrderNo: text('MERCHANT_ORDER_NO'),
      gatewayTransactionId: text('PAYMENT_TRANS_ID'),
      amountSen: readAmount(text('AMOUNT')),
      currency: text('CURRENCY'),
      paidAt: readGatewayTime(text('PAYMENT_DATETIME')),
      receiptNo: text('RECEIPT_NO'),
      buyerBank: text('BUYER_BANK'),
      buyerName: text('BUYER_NAME'),
      raw: { ...fields },
    },
  };
}

/** The signed form that takes a payer to the gateway; `totalSen` is what it collects, charge included. */
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
    /** The land registry's own name of the payment, by which its registry keeps it; `''` on the generic channel. */
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

/** encodeURIComponent leaves five characters that RFC 3986 reserves. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A text of the wire as we keep it: one line, cut to 200 characters. */
export function oneLine(value: string): string {
  const line = value.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length <= maxTextLength ? line : Array.from(line).slice(0, maxTextLength).join('');
}

/** `''` where the text names no method we know. */
export function readMode(text: string): PaymentMode | '' {
  return paymentModes.find((mode) => mode === text.toLowerCase()) ?? '';
}
