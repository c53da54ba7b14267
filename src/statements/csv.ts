/** Statements of a day's collection or of an account, as CSV (RFC 4180) or JSON lines: the same in every language. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { toIsoWithOffset } from '../common/malaysian-time.ts';
import { absolute, addSen, formatSen, type Sen } from '../common/money.ts';
import type { CollectedReceipt, Collection } from '../projections/journal/collection-queries.ts';
import type { AccountStatement, StatementLine } from '../projections/journal/queries.ts';

export type Format = 'csv' | 'json';

/** The text of each cell, by the names of the columns. */
type Columns<Of extends unknown[]> = Readonly<Record<string, (...of: Of) => string>>;

const rowOf = <Of extends unknown[]>(columns: Columns<Of>, ...of: Of) =>
  Object.fromEntries(Object.entries(columns).map(([name, textOf]) => [name, textOf(...of)]));

const receiptColumns: Columns<[receipt: CollectedReceipt, collection: Collection]> = {
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
    for await (const receipt of receipts) yield rowOf(receiptColumns, receipt, collection);
  }
  return linesOf(Object.keys(receiptColumns), rows(), format);
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

/** What a posting has between the account and the balance; the opening and the closing balance have the kind alone. */
const postingColumns: Columns<[line: StatementLine]> = {
  kind: ({ kind }) => kind,
  recorded_at: ({ at }) => toIsoWithOffset(at.toISOString()),
  value_at: ({ valueAt }) => toIsoWithOffset(valueAt.toISOString()),
  merchant_code: ({ merchantCode }) => merchantCode,
  transaction_id: ({ transactionId }) => transactionId,
  revision: ({ revision }) => String(revision),
  reference: ({ reference }) => reference,
  receipt_no: ({ receiptNo }) => receiptNo,
  debit: ({ debitSen }) => formatSen(debitSen),
  credit: ({ creditSen }) => formatSen(creditSen),
};
const accountColumns = ['account', ...Object.keys(postingColumns), 'balance', 'balance_side'];

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
      for (const line of lines)
        yield { account, ...rowOf(postingColumns, line), ...balanceOf(line.balanceSen) };
      closingSen = closing;
    }
    if (closingSen !== null) yield { account, kind: 'closing', ...balanceOf(closingSen) };
  }
  return linesOf(accountColumns, rows(), format);
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
