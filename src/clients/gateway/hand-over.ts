/** The signed form that hands a payer over to the gateway. */
import { addSen, formatSen } from '../../common/money.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import type { Attempt } from '../../events/payment.ts';
import { signFields } from './checksum.ts';
import type { GatewayFields } from './read-result.ts';

type HandedOver = Pick<OpenPayment, 'request' | 'paidSen'>;

/** The fields of the form. The gateway collects the amount and the fee of the attempt. */
export function handOverFields(
  { payment, attempt, responseUrl }: { payment: HandedOver; attempt: Attempt; responseUrl: string },
  secret: string,
): GatewayFields {
  const { request } = payment;
  const fields = {
    // Signed like a result with the same key: the label says which of the two it is.
    DIRECTION: 'request',
    MERCHANT_CODE: request.merchant.code,
    TRANS_ID: request.transactionId,
    MERCHANT_ORDER_NO: attempt.sellerOrderNo,
    AMOUNT: formatSen(addSen(outstandingSen(payment), attempt.chargeSen)),
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
