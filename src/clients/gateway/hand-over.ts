/** The signed form that hands a payer over to the gateway. */
import { formatSen, type Sen } from '../../kernel/money.ts';
import type { PaymentMode } from '../../kernel/payment-modes.ts';
import { signFields } from './checksum.ts';
import type { GatewayFields } from './read-result.ts';

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
