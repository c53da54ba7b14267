/** GET /<channel>/download/{id}: the receipt, or the statement, as a PDF. */
import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import type { LinkKeys } from '../../common/link-keys.ts';
import { chosenLanguage } from '../../events/payment.ts';
import { createReceiptFiles } from '../../receipts/pdf.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { type Context, languageOf } from '../server/context.ts';
import type { LoadedPayment } from './load-payment.ts';

type File = { name: string; pdf: Promise<Buffer> };

/** About 30 KB each. */
const maxKept = 500;

export function createDownload(config: { baseUrl: string; linkKeys: LinkKeys }) {
  const receiptFile = createReceiptFiles(config);
  /** By what they say, in order of use: drawing one takes some 50 ms of CPU. */
  const kept = new RecentMap<File>(maxKept);

  return async (ctx: Context<LoadedPayment>): Promise<void> => {
    const { payment, asAt } = ctx.state;
    const receipt = receiptOf(payment, asAt);
    const lang = languageOf(ctx, chosenLanguage(payment));
    const key = hash('sha256', JSON.stringify([lang, receipt]), 'base64');
    const file = kept.get(key) ?? draw();
    kept.set(key, file);
    ctx.body = await file.pdf;
    ctx.type = 'application/pdf';
    ctx.set('Content-Disposition', `inline; filename="${file.name}"`);
    // The policy of the pages would also apply to the elements that browsers build their PDF viewers from.
    ctx.set('Content-Security-Policy', "frame-ancestors 'none'");

    function draw(): File {
      const { name, pdf } = receiptFile(receipt, lang);
      const drawn = buffer(pdf);
      drawn.catch(() => kept.delete(key));
      return { name, pdf: drawn };
    }
  };
}
