/** The result of an import. */
import type { ExportSource } from '../events/reconciliation.ts';
import { type Verdict, type VerdictClass, verdictClasses } from './compare.ts';
import type { Scope } from './scope.ts';

/** `oursSen` and `theirsSen` are the sums of the successes on either side. */
export type ClassTotal = { count: number; oursSen: number; theirsSen: number };

export type Summary = Scope & {
  source: ExportSource;
  /** Without the header; with those that could not be read. */
  rows: number;
  badRows: number;
  classes: Readonly<Record<VerdictClass, ClassTotal>>;
  /** Discrepancies that were not known before, or had been cleared. */
  opened: number;
  /** Discrepancies of earlier imports that this file no longer shows. */
  cleared: number;
};

/** Whether the ledger and the file agree on every row. */
export function isAllMatched({ badRows, classes }: Pick<Summary, 'badRows' | 'classes'>): boolean {
  const { matched: _, repeated: __, ...others } = classes;
  return badRows === 0 && Object.values(others).every(({ count }) => count === 0);
}

export function noTotals(): Record<VerdictClass, ClassTotal> {
  const totals = verdictClasses.map((each) => [each, { count: 0, oursSen: 0, theirsSen: 0 }]);
  return Object.fromEntries(totals) as Record<VerdictClass, ClassTotal>;
}

/** Adds one verdict to the totals. */
export function count(totals: Record<VerdictClass, ClassTotal>, verdict: Verdict): void {
  const total = totals[verdict.class];
  total.count += 1;
  total.oursSen += paidSen(verdict.ours);
  total.theirsSen += paidSen(verdict.theirs);
}

function paidSen(side: Verdict['ours'] | Verdict['theirs']): number {
  return side?.status === 'succeeded' ? (side.amountSen ?? 0) : 0;
}
