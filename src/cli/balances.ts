/** `ledger balances`: the trial balance, or the ageing of what is open, now or as of a time. */
import { toIsoWithOffset } from '../common/malaysian-time.ts';
import { absolute, groupedSen, signedSen } from '../common/money.ts';
import { ageing, ages } from '../projections/journal/ageing.ts';
import { type AccountSums, totalsOf, trialBalance } from '../projections/journal/queries.ts';
import { type CommandOf, readAsOf } from './command.ts';
import { withJournal } from './stores.ts';

export const command: CommandOf<'balances'> = async ({ at, ageing: byAge }) => {
  return await withJournal({ asOf: readAsOf('at', at), whenBehind: 'warn' }, async ({ asOf, db }) => {
    if (byAge) {
      const data = await ageing(db, asOf);
      const rows = data.map(({ account, figures }) => [account, ...figures.map(signedSen)]);
      const text = aligned([['Open by age in days (RM)', ...ages, 'no day', 'Total'], ...rows]).join('\n');
      return { data, text };
    }
    const accounts = await trialBalance(db, asOf);
    const { text, isBalanced } = balancesText(accounts, asOf);
    return { data: { asOf, isBalanced, accounts }, text, exitCode: isBalanced ? 0 : 1 };
  });
};

/** One line per account, their total, and a sentence that says whether debits equal credits. */
export function balancesText(accounts: readonly AccountSums[], asOf: Date) {
  const { creditSen, debitSen } = totalsOf(accounts);
  const rows = [
    ['Account', 'Debit (RM)', 'Credit (RM)', 'Balance (RM)'],
    ...[...accounts, { account: 'Total', debitSen, creditSen }].map(rowOf),
  ];
  const at = toIsoWithOffset(asOf.toISOString());
  const isBalanced = debitSen === creditSen;
  const verdict = isBalanced
    ? `Debits equal credits, as of ${at}.`
    : `DEBITS AND CREDITS DIFFER by RM ${groupedSen(absolute(debitSen - creditSen))}, as of ${at}. Run ledger verify.`;
  return { text: [...aligned(rows), '', verdict].join('\n'), isBalanced };
}

function rowOf({ account, debitSen, creditSen }: AccountSums): string[] {
  const balanceSen = creditSen - debitSen;
  const side = balanceSen === 0n ? '  ' : balanceSen < 0n ? 'Dr' : 'Cr';
  const balance = `${groupedSen(absolute(balanceSen))} ${side}`;
  return [account, groupedSen(debitSen), groupedSen(creditSen), balance];
}

/** Pads the columns to equal widths: the first to the left, all others to the right. */
function aligned(rows: readonly string[][]): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widthOf(0)) : cell.padStart(widthOf(column));
  return rows.map((row) => row.map(pad).join('  ').trimEnd());
}
