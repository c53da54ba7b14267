/** What an import comes to. */
import type { ExportSource } from '../events/reconciliation.ts';
import { type Verdict, type VerdictClass, verdictClasses } from './compare.ts';
import type { Scope } from './scope.ts';

/** `oursSen` and `theirsSen` add up the money on either side: what is failed, cancelled or pending is none. */
export type ClassTotal = { count: number; oursSen: number; theirsSen: number };

export type Summary = Scope & {
  source: ExportSource;
  /** Of the file, the header left out; those that could not be read among them. */
  rows: number;
  badRows: number;
  classes: Readonly<Record<VerdictClass, ClassTotal>>;
  /** Differences that were not known before, or had vanished. */
  opened: number;
  /** Differences of earlier imports that this file shows no more. */
  vanished: number;
};

/** Whether the ledger and the file agree on every row. */
export function isAllMatched({ badRows, classes }: Pick<Summary, 'badRows' | 'classes'>): boolean {
  const agreeing: readonly VerdictClass[] = ['matched', 'repeated'];
  return (
    badRows === 0 && verdictClasses.every((each) => agreeing.includes(each) || classes[each].count === 0)
  );
}

export function noTotals(): Record<VerdictClass, ClassTotal> {
  const totals = verdictClasses.map((each) => [each, { count: 0, oursSen: 0, theirsSen: 0 }]);
  return Object.fromEntries(totals) as Record<VerdictClass, ClassTotal>;
}

/** Adds one verdict to the totals. */
export function count(totals: Record<VerdictClass, ClassTotal>, verdict: Verdict): void {
  const total = totals[verdict.class];
  total.count += 1;
  total.oursSen += moneyOf(verdict.ours);
  total.theirsSen += moneyOf(verdict.theirs);
}

function moneyOf(side: Verdict['ours'] | Verdict['theirs']): number {
  return side?.status === 'succeeded' ? (side.amountSen ?? 0) : 0;
}
