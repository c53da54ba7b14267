/** Statements of a day's collection or of an account, as CSV (RFC 4180) or JSON lines: the same in every language. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { toIsoWithOffset } from '../common/malaysian-time.ts';
import { absolute, addSen, formatSen, type Sen } from '../common/money.ts';
import type { CollectedReceipt, Collection } from '../projections/journal/collection-queries.ts';
import type { AccountStatement, StatementLine } from '../projections/journal/queries.ts';

export type Format = 'csv' | 'json';

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

/** One receipt per line. What the receipts throw becomes the stream's error. */
export function collectionLines(
  collection: Collection,
  receipts: AsyncIterable<CollectedReceipt>,
  format: Format = 'csv',
): Readable {
  async function* rows() {
    for await (const receipt of receipts)
      yield Object.fromEntries(
        Object.entries(columns).map(([name, textOf]) => [name, textOf(receipt, collection)]),
      );
  }
  return linesOf(Object.keys(columns), rows(), format);
}

/** The rows of a list, as they are: each column has the field of the row that it is named after. */
export function listCsv(columns: readonly string[], rows: AsyncIterable<object>): Readable {
  async function* texts() {
    for await (const row of rows) yield columns.map((name) => textOfField(name, Reflect.get(row, name)));
  }
  const headings = columns.map((name) =>
    name.replace(/Sen$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  return linesOf(headings, texts(), 'csv');
}

function textOfField(name: string, value: unknown): string {
  if (value instanceof Date) return toIsoWithOffset(value.toISOString());
  return name.endsWith('Sen') && value !== null ? formatSen(value as Sen) : String(value ?? '');
}

const accountColumns = [
  'account',
  'kind',
  'recorded_at',
  'value_at',
  'merchant_code',
  'transaction_id',
  'revision',
  'reference',
  'receipt_no',
  'debit',
  'credit',
  'balance',
  'balance_side',
];

/** The opening balance, a line per posting, the closing balance. There is at least one page. */
export function accountLines(
  account: string,
  pages: AsyncIterable<AccountStatement>,
  format: Format = 'csv',
): Readable {
  async function* rows() {
    let closingSen: bigint | null = null;
    for await (const { openingSen, lines, closingSen: closing } of pages) {
      if (closingSen === null) yield { account, kind: 'opening', ...balanceOf(openingSen) };
      for (const line of lines) yield { account, ...rowOf(line) };
      closingSen = closing;
    }
    if (closingSen !== null) yield { account, kind: 'closing', ...balanceOf(closingSen) };
  }
  return linesOf(accountColumns, rows(), format);
}

function rowOf(line: StatementLine) {
  return {
    kind: line.kind,
    recorded_at: toIsoWithOffset(line.at.toISOString()),
    value_at: toIsoWithOffset(line.valueAt.toISOString()),
    merchant_code: line.merchantCode,
    transaction_id: line.transactionId,
    revision: String(line.revision),
    reference: line.reference,
    receipt_no: line.receiptNo,
    debit: formatSen(line.debitSen),
    credit: formatSen(line.creditSen),
    ...balanceOf(line.balanceSen),
  };
}

/** A side instead of a sign, because a spreadsheet could take a sign for the beginning of a formula. */
function balanceOf(sen: bigint) {
  const side = sen < 0n ? 'debit' : 'credit';
  return { balance: formatSen(absolute(sen)), balance_side: sen === 0n ? '' : side };
}

/** A row is a list of values, or an object that may lack columns. */
function linesOf(columns: readonly string[], rows: AsyncIterable<unknown>, format: Format): Readable {
  if (format === 'json') return Readable.from(jsonLines(rows));
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

async function* jsonLines(rows: AsyncIterable<unknown>) {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}
