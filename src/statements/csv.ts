/** A day's collection as CSV (RFC 4180), a receipt per line: for spreadsheets and for programs. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { addSen, formatSen } from '../kernel/money.ts';
import type { CollectedReceipt, Collection } from '../projections/journal/collection-queries.ts';

/** Streams it; what the receipts throw is the stream's error. The columns are the same in every language. */
export function collectionCsv(
  { merchantCode, day }: Collection,
  receipts: AsyncIterable<CollectedReceipt>,
): Readable {
  async function* rows() {
    for await (const receipt of receipts) yield rowOf(merchantCode, day, receipt);
  }
  return pipeline(Readable.from(rows()), stringify({ ...csvForm, columns: [...columns] }), () => {});
}

/** The form of every CSV here. */
export const csvForm = {
  header: true,
  record_delimiter: '\r\n',
  // Spreadsheets take a file without the mark for another encoding.
  bom: true,
  // A merchant's reference may look like a formula, and must stay a text in a spreadsheet.
  escape_formulas: true,
} as const;

const columns = [
  'merchant_code',
  'day',
  'receipt_no',
  'reference',
  'transaction_id',
  'method',
  'amount',
  'charge',
  'total',
  'paid_at',
  'recorded_at',
  'recorded_late',
] as const;

function rowOf(
  merchantCode: string,
  day: string,
  receipt: CollectedReceipt,
): Record<(typeof columns)[number], string> {
  return {
    merchant_code: merchantCode,
    day,
    receipt_no: receipt.receiptNo,
    reference: receipt.reference,
    transaction_id: receipt.transactionId,
    method: receipt.method,
    amount: formatSen(receipt.amountSen),
    charge: formatSen(receipt.chargeSen),
    total: formatSen(addSen(receipt.amountSen, receipt.chargeSen)),
    paid_at: toIsoWithOffset(receipt.paidAt.toISOString()),
    recorded_at: toIsoWithOffset(receipt.recordedAt.toISOString()),
    recorded_late: receipt.isLate ? 'yes' : 'no',
  };
}
