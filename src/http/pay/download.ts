/** GET /<channel>/download/{id}: the receipt, or the statement, as a PDF. */
import { receiptOf } from '../../receipts/receipt.ts';
import { createReceiptFiles } from '../../receipts/receipt-file.ts';
import { type Context, languageOf } from '../server/context.ts';
import type { PayDependencies } from './dependencies.ts';
import type { ReadPayment } from './read-payment.ts';

export function createDownload({
  config,
  readPayment,
}: {
  config: Pick<PayDependencies['config'], 'baseUrl' | 'transactionIdKey'>;
  readPayment: ReadPayment;
}) {
  const receiptFile = createReceiptFiles(config);
  return async (ctx: Context): Promise<void> => {
    const { payment } = await readPayment(ctx.params.id ?? '');
    const receipt = receiptOf(payment);
    const { name, pdf } = receiptFile(receipt, languageOf(ctx));
    ctx.type = 'application/pdf';
    ctx.set('Content-Disposition', `inline; filename="${name}"`);
    // That of the pages would also cover the parts that browsers build their PDF viewers from.
    ctx.set('Content-Security-Policy', "frame-ancestors 'none'");
    ctx.body = pdf;
  };
}
