/** A day's collection as CSV (RFC 4180), one receipt per line, the same in every language. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { addSen, formatSen } from '../kernel/money.ts';
import type { CollectedReceipt, Collection } from '../projections/journal/collection-queries.ts';

const columns: Readonly<Record<string, (receipt: CollectedReceipt, collection: Collection) => string>> = {
  merchant_code: (_, { merchantCode }) => merchantCode,
  day: (_, { day }) => day,
  receipt_no: ({ receiptNo }) => receiptNo,
  reference: ({ reference }) => reference,
  transaction_id: ({ transactionId }) => transactionId,
  method: ({ method }) => method,
  amount: ({ amountSen }) => formatSen(amountSen),
  charge: ({ chargeSen }) => formatSen(chargeSen),
  total: ({ amountSen, chargeSen }) => formatSen(addSen(amountSen, chargeSen)),
  paid_at: ({ paidAt }) => toIsoWithOffset(paidAt.toISOString()),
  recorded_at: ({ recordedAt }) => toIsoWithOffset(recordedAt.toISOString()),
  recorded_late: ({ isLate }) => (isLate ? 'yes' : 'no'),
};

/** Streams it; what the receipts throw becomes the stream's error. */
export function collectionCsv(collection: Collection, receipts: AsyncIterable<CollectedReceipt>): Readable {
  async function* rows() {
    for await (const receipt of receipts)
      yield Object.values(columns).map((textOf) => textOf(receipt, collection));
  }
  return csvOf(Object.keys(columns), rows());
}

/** A row is a list of values, or an object that may lack columns. */
export function csvOf(columns: readonly string[], rows: AsyncIterable<unknown>): Readable {
  const form = stringify({
    columns: [...columns],
    header: true,
    record_delimiter: '\r\n',
    // Without the mark, spreadsheets assume another encoding.
    bom: true,
    // A merchant's reference may look like a formula, and must stay a text in a spreadsheet.
    escape_formulas: true,
  });
  return pipeline(Readable.from(rows), form, () => {});
}
