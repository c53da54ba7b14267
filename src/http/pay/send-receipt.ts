/** POST /<channel>/receipt/{id}: sends the receipt again, to the address of the payment and to no other. */
import { paymentStream } from '../../events/payment.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { bodyText } from '../server/body.ts';
import { type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import type { LeadToReceipt } from './lead-to-receipt.ts';
import type { PaymentWithHead } from './load-payment.ts';
import type { PageTokens } from './page-token.ts';

/** Leads back to the receipt, which says what became of it. Throws HttpProblem 401. */
export function createSendReceipt(dependencies: {
  emailTokens: PageTokens;
  execute: Dependencies['execute'];
  leadToReceipt: LeadToReceipt;
  links: Links;
  runtime: Pick<Runtime, 'now'>;
}) {
  const { emailTokens, execute, leadToReceipt, links, runtime } = dependencies;
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
