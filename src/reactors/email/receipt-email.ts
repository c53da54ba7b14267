/** Sends a payment's receipt to its payer, or tells the payer of a wrong amount. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Mailer } from '@ledger/outbound/mailer.ts';
import type { LinkKeys } from '../../common/link-keys.ts';
import { chosenLanguage } from '../../events/payment.ts';
import { receiptMessage } from '../../receipts/email.ts';
import { createReceiptFiles, type DrawReceipt } from '../../receipts/file.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { deliveryIdOf, failure, type PerformDelivery, withoutPayer } from '../deliveries/delivery-task.ts';

export function createReceiptEmail(dependencies: {
  mailer: Mailer;
  config: { baseUrl: string; linkKeys: LinkKeys };
  drawReceipt: DrawReceipt;
  runtime: Pick<Runtime, 'now'>;
}): PerformDelivery {
  const { config, drawReceipt, mailer, runtime } = dependencies;
  const receiptFile = createReceiptFiles(config, drawReceipt);
  const links = createLinks({ ...config, runtime });
  return async ({ payment, delivery, signal }) => {
    const unsent = withoutPayer(payment.access);
    if (unsent) return unsent;
    const { channel, transactionId, payer, extra } = payment.request;
    // The language in which the payer chose, else that of the merchant, else English; the email links to the other.
    const lang = chosenLanguage(payment) ?? (extra.lang === 'ms' ? 'ms' : 'en');
    const receipt = receiptOf(payment);
    const file = receipt.isOfficial ? receiptFile(receipt, lang) : null;
    const outcome = await mailer.send(
      {
        id: deliveryIdOf({ payment, delivery }),
        to: payer.email,
        ...receiptMessage(receipt, lang, (it) => links[channel].receipt(transactionId, it)),
        ...(file && {
          attachment: { name: file.name, type: 'application/pdf', content: await file.pdf },
        }),
      },
      signal,
    );
    if (outcome.kind === 'sent') return { kind: 'delivered', status: null, messageId: outcome.messageId };
    if (outcome.kind === 'failed') return failure(outcome.reason, { isReceiverDown: outcome.isServerDown });
    return { kind: 'abandoned', status: null, reason: outcome.reason };
  };
}
