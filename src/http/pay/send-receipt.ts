/** POST /<channel>/receipt/{id}: sends the receipt again, to the address of the payment and to no other. */
import { paymentStream } from '../../events/payment.ts';
import { bodyText } from '../server/body.ts';
import { type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { ChannelDependencies } from './dependencies.ts';
import type { PaymentWithHead } from './load-payment.ts';

/** Redirects to the receipt, which says whether it was sent. Throws HttpProblem 401. */
export function createSendReceipt({
  emailTokens,
  execute,
  leadToReceipt,
  links,
  runtime,
}: ChannelDependencies) {
  return async (ctx: Context<PaymentWithHead>): Promise<void> => {
    const { head, linkEndsAtMs, payment } = ctx.state;
    const { transactionId } = payment.request;
    const read = emailTokens.read(bodyText(ctx, 'token'), transactionId);
    if (typeof read !== 'object') {
      const kind = read === 'expired' ? 'expired' : 'unauthorized';
      const actionUrl = links.receipt(transactionId, undefined, linkEndsAtMs);
      throw new HttpProblem(401, 'The token of this receipt is not valid any more', { kind, actionUrl });
    }
    const at = runtime.now().toISOString();
    const command = { type: 'RequestReceiptEmail', at, attempts: read.number } as const;
    const { revision } = await execute(paymentStream(transactionId), command, causeOf(ctx, 'payer'), {
      from: head,
    });
    leadToReceipt(ctx, transactionId, revision, linkEndsAtMs);
  };
}
