/** GET /<channel>/download/{id}: the receipt, or the statement, as a PDF. */
import { hash } from 'node:crypto';
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import { chosenLanguage } from '../../events/payment.ts';
import { createReceiptFiles } from '../../receipts/file.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { type Context, languageOf } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import type { LoadedPayment } from './load-payment.ts';

/** About 30 KB each. */
const maxKept = 500;

export function createDownload({ config, documents, runtime }: Dependencies) {
  const receiptFile = createReceiptFiles(config, documents.receipt);
  /** PDFs by what they say. The last used are kept, because drawing one takes some 10 ms of CPU. */
  const kept = new RecentMap<ReturnType<typeof receiptFile>>(maxKept);

  return async (ctx: Context<LoadedPayment>): Promise<void> => {
    const { payment, asAt } = ctx.state;
    const receipt = receiptOf(payment, asAt, runtime.now());
    const lang = languageOf(ctx, chosenLanguage(payment));
    const key = hash('sha256', JSON.stringify([lang, receipt]), 'base64');
    let file = kept.get(key);
    if (!file) {
      file = receiptFile(receipt, lang);
      file.pdf.catch(() => kept.delete(key));
    }
    kept.set(key, file);
    ctx.body = await file.pdf;
    ctx.type = 'application/pdf';
    ctx.set('Content-Disposition', `inline; filename="${file.name}"`);
    // The policy of the pages would also apply to the elements that browsers build their PDF viewers from.
    ctx.set('Content-Security-Policy', "frame-ancestors 'none'");
  };
}
