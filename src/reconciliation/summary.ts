/** The result of an import, and its texts: ids, kinds and amounts, without names or free text from the file. */
import { format } from '@ledger/kernel/format.ts';
import texts from '../../content/texts/reconciliation.en.json' with { type: 'json' };
import { toDateTime } from '../common/malaysian-time.ts';
import { displaySen, isRinggit } from '../common/money.ts';
import { plural } from '../common/plural.ts';
import { renderText } from '../common/templates.ts';
import type { DiscrepancyFound, ExportSource } from '../events/reconciliation.ts';
import { type Verdict, type VerdictClass, verdictClasses } from './compare.ts';
import type { ExportScope } from './scope.ts';

/** `oursSen` and `theirsSen` are the sums of the successes on either side, of ringgit alone. */
type ClassTotal = { count: number; oursSen: number; theirsSen: number };

export type Summary = ExportScope & {
  source: ExportSource;
  /** Of the file. */
  sha256: string;
  /** The time at which the file was made, in UTC; null if it is not known. */
  asOf: string | null;
  /** Without the header, but including unreadable rows. */
  rows: number;
  badRows: number;
  classes: Readonly<Record<VerdictClass, ClassTotal>>;
  /** Discrepancies that were not known before, or had been cleared. */
  opened: number;
  /** Discrepancies of earlier imports that this file no longer shows. */
  cleared: number;
  /** Discrepancies that this file does not show, but that stay open because a newer export showed them. */
  keptFromNewer: number;
};

export function isAllMatched({ badRows, classes }: Pick<Summary, 'badRows' | 'classes'>): boolean {
  const { matched: _, repeated: __, ...others } = classes;
  return badRows === 0 && Object.values(others).every(({ count }) => count === 0);
}

export function noTotals(): Record<VerdictClass, ClassTotal> {
  const totals = verdictClasses.map((each) => [each, { count: 0, oursSen: 0, theirsSen: 0 }]);
  return Object.fromEntries(totals) as Record<VerdictClass, ClassTotal>;
}

export function count(totals: Record<VerdictClass, ClassTotal>, verdict: Verdict): void {
  const total = totals[verdict.class];
  total.count += 1;
  // Without a result it says how the payment stands, whose success another record is about.
  if (verdict.resultNo !== null) total.oursSen += paidSen(verdict.ours);
  total.theirsSen += paidSen(verdict.theirs);
}

function paidSen(side: Verdict['ours'] | Verdict['theirs']): number {
  return side?.status === 'succeeded' && isRinggit(side.currency) ? (side.amountSen ?? 0) : 0;
}

export const classNames: Readonly<Record<VerdictClass, string>> = texts.classes;

export function discrepancyText(id: string, discrepancy: DiscrepancyFound): string {
  const { file, kind, ours, paidAt, recordId, theirs, transactionId } = discrepancy;
  const place = file.line === null ? 'not in the file' : `line ${file.line}`;
  const when = paidAt === null ? 'no time' : toDateTime(paidAt);
  const named = `${transactionId || '(no transaction id)'} ${recordId}`.trim();
  return `${classNames[kind].padEnd(14)}  ${place}, ${when}  ${named}  here ${sideText(ours)}, there ${sideText(theirs)}  [${id}]`;
}

/** `succeeded RM 120.50`, or `nothing`. */
function sideText(side: DiscrepancyFound['ours'] | DiscrepancyFound['theirs']): string {
  if (!side) return 'nothing';
  const { amountSen, currency, status } = side;
  return `${status.replace('_', ' ')}${amountSen === null ? '' : ` ${displaySen(amountSen, currency)}`}`;
}

export function scopeText({ asOf, merchantCodes, period, rows, source }: Summary): string {
  const whose = merchantCodes === null ? 'every merchant' : merchantCodes.join(', ');
  const scope = period
    ? format(texts.period, { whose, start: toDateTime(period.start), end: toDateTime(period.end) })
    : texts.noPeriod;
  const moment = asOf === null ? '' : `, as of ${toDateTime(asOf)}`;
  return `Export of the ${source}, ${plural(rows, 'row')}${moment}. ${scope}`;
}

/** Null if no newer export is in the way. */
export function keptText({ keptFromNewer: kept }: Summary): string | null {
  if (kept === 0) return null;
  return kept === 1 ? texts.keptOne : format(texts.keptMany, { kept });
}

/** The scope, a table of the classes, and what is new. */
export function summaryText(summary: Summary): string {
  const classes = verdictClasses.map((each) => ({ name: classNames[each], ...summary.classes[each] }));
  const texts = { scope: scopeText(summary), kept: keptText(summary), classes };
  return renderText('reconciliation.txt', { ...summary, ...texts });
}
