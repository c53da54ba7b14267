/** GET /<channel>/download/{id}: the receipt, or the statement, as a PDF. */
import { chosenLanguage } from '../../events/payment.ts';
import { createReceiptFiles } from '../../receipts/pdf.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { type Context, languageOf } from '../server/context.ts';
import type { LoadedPayment } from './load-payment.ts';

export function createDownload(config: { baseUrl: string; transactionIdKey: string }) {
  const receiptFile = createReceiptFiles(config);
  return (ctx: Context<LoadedPayment>): void => {
    const { payment, asAt } = ctx.state;
    const { name, pdf } = receiptFile(receiptOf(payment, asAt), languageOf(ctx, chosenLanguage(payment)));
    ctx.type = 'application/pdf';
    ctx.set('Content-Disposition', `inline; filename="${name}"`);
    // The policy of the pages would also apply to the elements that browsers build their PDF viewers from.
    ctx.set('Content-Security-Policy', "frame-ancestors 'none'");
    ctx.body = pdf;
  };
}
