/** Sends a payment's receipt to its payer. What came of it is recorded by reactor.ts. */
import { buffer } from 'node:stream/consumers';
import type { Mailer } from '../../clients/mail/mailer.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { receiptMessage } from '../../receipts/message.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { createReceiptFiles } from '../../receipts/receipt-file.ts';
import type { Language } from '../../receipts/texts.ts';
import { deliveryIdOf, type PerformDelivery } from '../deliveries/delivery-task.ts';

export function createReceiptEmail({
  mailer,
  config,
  runtime,
}: {
  mailer: Mailer;
  config: { baseUrl: string; transactionIdKey: string };
  runtime: Pick<Runtime, 'now'>;
}): PerformDelivery {
  const receiptFile = createReceiptFiles(config);
  const links = createLinks({ ...config, runtime });
  return async ({ payment, delivery, signal }) => {
    const { channel, transactionId, payer } = payment.request;
    const lang = languageOf(payment);
    const receipt = receiptOf(payment);
    const { name, pdf } = receiptFile(receipt, lang);
    const outcome = await mailer.send(
      {
        id: deliveryIdOf({ payment, delivery }),
        to: payer.email,
        ...receiptMessage(receipt, lang, (it) => links[channel].receipt(transactionId, it)),
        attachment: { name, type: 'application/pdf', content: await buffer(pdf) },
      },
      signal,
    );
    switch (outcome.kind) {
      case 'sent':
        return { kind: 'delivered', status: null, messageId: outcome.messageId };
      case 'failed': {
        const { reason, isServerDown } = outcome;
        return { kind: 'failed', status: null, reason, isReceiverDown: isServerDown, retryAfterMs: 0 };
      }
      case 'refused':
        return { kind: 'abandoned', status: null, reason: outcome.reason };
      default:
        return outcome satisfies never;
    }
  };
}

/** What the merchant says in `extra.lang`, else English as on pages; the email links to the other language. */
function languageOf({ request }: RequestedPayment): Language {
  return request.extra.lang === 'ms' ? 'ms' : 'en';
}
