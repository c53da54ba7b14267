/** The gateway's result fields read in the ledger's own terms, however they came: as a form, or as a row of an export. */
import type { Outcome, PaymentResult } from '../../events/payment-result.ts';
import { readGatewayTime } from '../../kernel/malaysian-time.ts';
import { readAmount } from '../../kernel/money.ts';
import { type PaymentMode, paymentModes } from '../../kernel/payment-modes.ts';

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

/** A text of the wire as we keep it: one line, cut to 200 characters. */
export function oneLine(value: string): string {
  const line = value.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length <= maxTextLength ? line : Array.from(line).slice(0, maxTextLength).join('');
}

/** `''` where the text names no method we know. */
export function readMode(text: string): PaymentMode | '' {
  return paymentModes.find((mode) => mode === text.toLowerCase()) ?? '';
}
