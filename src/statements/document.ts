/** What those who ask for the PDF of a day's collection give to what draws it (`pdf.ts`), and the totals of a statement. */
import type { CollectedReceipt, Collection, MethodTotal } from '../projections/journal/collection-queries.ts';
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

export class TooManyReceipts extends Error {
  override name = 'TooManyReceipts';
}

/** Throws TooManyReceipts beyond `maxPdfReceipts`, and what the receipts throw. */
export async function gatherReceipts(found: AsyncIterable<CollectedReceipt>): Promise<CollectedReceipt[]> {
  const receipts: CollectedReceipt[] = [];
  for await (const receipt of found) {
    if (receipts.length === maxPdfReceipts)
      throw new TooManyReceipts(`A PDF holds at most ${maxPdfReceipts} receipts; take the CSV for this day`);
    receipts.push(receipt);
  }
  return receipts;
}

/** Sorted by method name. */
export function totalsByMethod(receipts: readonly CollectedReceipt[]): MethodTotal[] {
  return Array.from(
    Map.groupBy(receipts, ({ method }) => method),
    ([method, group]) => ({
      method,
      receipts: group.length,
      amountSen: sumOf(group.map(({ amountSen }) => BigInt(amountSen))),
      chargeSen: sumOf(group.map(({ chargeSen }) => BigInt(chargeSen))),
    }),
  ).sort((a, b) => (a.method < b.method ? -1 : 1));
}

/** Over all methods. */
export function grandTotal(totals: readonly MethodTotal[]): Omit<MethodTotal, 'method'> {
  return {
    receipts: totals.reduce((sum, { receipts }) => sum + receipts, 0),
    amountSen: sumOf(totals.map(({ amountSen }) => amountSen)),
    chargeSen: sumOf(totals.map(({ chargeSen }) => chargeSen)),
  };
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);
