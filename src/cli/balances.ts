/** `ledger balances`: the trial balance, now or as it was known at a time. */
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { groupedSen } from '../kernel/money.ts';
import { type AccountSums, trialBalance } from '../projections/journal/queries.ts';
import type { Command } from './command.ts';
import { onJournal, readAsOf } from './on-journal.ts';

export const balances: Command = {
  summary: 'the trial balance: every account with its debits, credits and balance',
  usage: '[--at TIME]',
  options: { at: { type: 'string' } },
  run({ at }) {
    const asOf = readAsOf(at);
    return onJournal({ asOf, whenBehind: 'warn' }, async (db) => {
      const { text, isBalanced } = balancesText(await trialBalance(db, asOf), asOf);
      process.stdout.write(`${text}\n`);
      return isBalanced ? 0 : 1;
    });
  },
};

/** A line per account and one for all of them, the figures one below the other, and in words whether they balance. */
export function balancesText(
  accounts: readonly AccountSums[],
  asOf: Date,
): { text: string; isBalanced: boolean } {
  const debitSen = accounts.reduce((sum, account) => sum + account.debitSen, 0n);
  const creditSen = accounts.reduce((sum, account) => sum + account.creditSen, 0n);
  const rows = [
    ['Account', 'Debit (RM)', 'Credit (RM)', 'Balance (RM)'],
    ...accounts.map((sums) => rowOf(sums.account, sums)),
    rowOf('Total', { debitSen, creditSen }),
  ];
  const at = toIsoWithOffset(asOf.toISOString());
  const differenceSen = debitSen > creditSen ? debitSen - creditSen : creditSen - debitSen;
  const verdict =
    differenceSen === 0n
      ? `Debits equal credits, as known at ${at}.`
      : `DEBITS AND CREDITS DIFFER by RM ${groupedSen(differenceSen)}, as known at ${at}. Run ledger verify.`;
  return { text: [...aligned(rows), '', verdict].join('\n'), isBalanced: differenceSen === 0n };
}

function rowOf(name: string, { debitSen, creditSen }: Pick<AccountSums, 'debitSen' | 'creditSen'>): string[] {
  const balanceSen = creditSen - debitSen;
  const balance =
    balanceSen === 0n
      ? `${groupedSen(0n)}   `
      : `${groupedSen(balanceSen < 0n ? -balanceSen : balanceSen)} ${balanceSen < 0n ? 'Dr' : 'Cr'}`;
  return [name, groupedSen(debitSen), groupedSen(creditSen), balance];
}

/** The first column to the left, all others to the right. */
function aligned(rows: readonly string[][]): string[] {
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
