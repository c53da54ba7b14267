/** The statement of an account as CSV: what it opened with, a line per posting, what it closed with. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { formatSen } from '../kernel/money.ts';
import type { AccountStatement, StatementLine } from '../projections/journal/queries.ts';
import { csvForm } from './csv.ts';

/** Streams it from its pages, of which there is one at least. */
export function accountCsv(account: string, pages: AsyncIterable<AccountStatement>): Readable {
  async function* rows() {
    let closingSen: bigint | null = null;
    for await (const { openingSen, lines, closingSen: closing } of pages) {
      if (closingSen === null) yield balanceRow(account, 'opening', openingSen);
      for (const line of lines) yield lineRow(account, line);
      closingSen = closing;
    }
    if (closingSen !== null) yield balanceRow(account, 'closing', closingSen);
  }
  return pipeline(Readable.from(rows()), stringify({ ...csvForm, columns: [...columns] }), () => {});
}

const columns = [
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
] as const;
type Row = Record<(typeof columns)[number], string>;

const blank = Object.fromEntries(columns.map((column) => [column, ''])) as Row;

function balanceRow(account: string, kind: 'opening' | 'closing', sen: bigint): Row {
  return { ...blank, account, kind, ...balanceOf(sen) };
}

function lineRow(account: string, line: StatementLine): Row {
  return {
    account,
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

/** A side instead of a sign, which a spreadsheet may take for the beginning of a formula. */
function balanceOf(sen: bigint): Pick<Row, 'balance' | 'balance_side'> {
  const side = sen < 0n ? 'debit' : 'credit';
  return { balance: formatSen(sen < 0n ? -sen : sen), balance_side: sen === 0n ? '' : side };
}
