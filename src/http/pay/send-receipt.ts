/** POST /<channel>/receipt/{id}: sends the receipt again, to the address of the payment and to no other. */
import { paymentStream } from '../../events/payment.ts';
import { bodyText } from '../server/body.ts';
import { askedLanguage, type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { PaymentChannel } from './channel.ts';
import type { PaymentWithHead } from './load-payment.ts';

/** Redirects to the receipt, which says whether it was sent. Throws HttpProblem 401. */
export async function sendReceipt(ctx: Context<PaymentWithHead>, channel: PaymentChannel): Promise<void> {
  const { emailTokens, execute, leadToReceipt, links, runtime } = channel;
  const { head, linkEndsAtMs, payment } = ctx.state;
  const { transactionId } = payment.request;
  const read = emailTokens.read(bodyText(ctx, 'token'), transactionId);
  if (typeof read !== 'object') {
    const actionUrl = links.receipt(transactionId, askedLanguage(ctx), linkEndsAtMs);
    throw new HttpProblem(401, 'The token of this receipt is not valid any more', {
      kind: 'receiptNotSent',
      actionUrl,
    });
  }
  const at = runtime.now().toISOString();
  const command = { type: 'RequestReceiptEmail', at, attempts: read.number } as const;
  const cause = causeOf(ctx, 'payer');
  const { revision } = await execute(paymentStream(transactionId), command, cause, { from: head });
  leadToReceipt(ctx, transactionId, revision, linkEndsAtMs);
}
