/** The statement of an account as CSV: the opening balance, a line per posting, the closing balance. */
import type { Readable } from 'node:stream';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { formatSen } from '../kernel/money.ts';
import type { AccountStatement, StatementLine } from '../projections/journal/queries.ts';
import { csvOf } from './csv.ts';

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
type Row = Partial<Record<(typeof columns)[number], string>>;

/** Streams it from its pages; there is at least one. */
export function accountCsv(account: string, pages: AsyncIterable<AccountStatement>): Readable {
  async function* rows(): AsyncIterable<Row> {
    let closingSen: bigint | null = null;
    for await (const { openingSen, lines, closingSen: closing } of pages) {
      if (closingSen === null) yield { account, kind: 'opening', ...balanceOf(openingSen) };
      for (const line of lines) yield { account, ...rowOf(line) };
      closingSen = closing;
    }
    if (closingSen !== null) yield { account, kind: 'closing', ...balanceOf(closingSen) };
  }
  return csvOf(columns, rows());
}

function rowOf(line: StatementLine): Row {
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

/** A side instead of a sign, which a spreadsheet could take for the beginning of a formula. */
function balanceOf(sen: bigint): Row {
  const side = sen < 0n ? 'debit' : 'credit';
  return { balance: formatSen(sen < 0n ? -sen : sen), balance_side: sen === 0n ? '' : side };
}
