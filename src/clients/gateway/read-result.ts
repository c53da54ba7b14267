/** Reads the gateway's result fields, from a form or from a row of an export, as a payment result. */
import { readGatewayTime } from '../../common/malaysian-time.ts';
import { readAmount } from '../../common/money.ts';
import type { Outcome, ReportedResult } from '../../events/payment-result.ts';
import { oneLine, readMode, readReceiptNo } from '../wire-fields.ts';

/** Form fields as they travel: each name once, in any case; names and values are well-formed Unicode. */
export type GatewayFields = Readonly<Record<string, string>>;

export type GatewayResult = { transactionId: string; merchantCode: string; result: ReportedResult };

/** The outcomes, in the order of STATUS. */
const outcomes: readonly Outcome[] = ['failed', 'succeeded', 'cancelled', 'pending'];

/**
 * Reads a result, with field names in any case. Returns null when STATUS is none of the four documented ones. An
 * amount or time that cannot be read is null in the result; such an amount never equals the one requested.
 */
export function readGatewayResult(fields: GatewayFields): GatewayResult | null {
  const byName = new Map(Object.entries(fields).map(([name, value]) => [name.toUpperCase(), value]));
  const text = (name: string) => oneLine(byName.get(name) ?? '');
  const outcome = outcomes.find((_, status) => text('STATUS') === String(status));
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
      receiptNo: readReceiptNo(byName.get('RECEIPT_NO') ?? ''),
      buyerBank: text('BUYER_BANK'),
      buyerName: text('BUYER_NAME'),
      raw: { ...fields },
    },
  };
}
