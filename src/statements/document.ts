/** What it takes to draw the PDF of a day's collection (`pdf.ts`). */
import { Refused } from '../commands/decider.ts';
import type { CollectedReceipt, Collection } from '../projections/journal/collection-queries.ts';
import type { DrawReceipt } from '../receipts/file.ts';
import type { Language } from '../receipts/texts.ts';

/** `receipts` are at most `maxPdfReceipts`: the whole document is in memory until its pages are counted. */
export type CollectionStatement = {
  agency: string;
  collection: Collection;
  receipts: readonly CollectedReceipt[];
  printedAt: Date;
  lang: Language;
};

/** What draws PDFs. Rejects if a document could not be drawn this time. */
export type Documents = {
  receipt: DrawReceipt;
  collection(statement: CollectionStatement): Promise<Buffer>;
};

/** A day with more receipts needs the CSV. */
export const maxPdfReceipts = 2_000;

/** Throws Refused beyond `maxPdfReceipts`, and what the receipts throw. */
export async function gatherReceipts(found: AsyncIterable<CollectedReceipt>): Promise<CollectedReceipt[]> {
  const receipts: CollectedReceipt[] = [];
  for await (const receipt of found) {
    if (receipts.length === maxPdfReceipts)
      throw new Refused(
        'too_many_receipts',
        `A PDF has at most ${maxPdfReceipts} receipts; use the CSV for this day`,
      );
    receipts.push(receipt);
  }
  return receipts;
}
