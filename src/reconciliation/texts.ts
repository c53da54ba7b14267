/** The texts about an import: ids, kinds and amounts, without names or free text from the file. */
import type { DiscrepancyFound } from '../events/reconciliation.ts';
import { toDateTime } from '../kernel/malaysian-time.ts';
import { displaySen, isRinggit, type Sen } from '../kernel/money.ts';
import { type VerdictClass, verdictClasses } from './compare.ts';
import type { Summary } from './summary.ts';

export const classNames: Readonly<Record<VerdictClass, string>> = {
  matched: 'matched',
  missingHere: 'missing here',
  missingThere: 'missing there',
  amountDiffers: 'amount differs',
  statusDiffers: 'status differs',
  repeated: 'repeated rows',
};

/** One line for a discrepancy. */
export function discrepancyText(id: string, discrepancy: DiscrepancyFound): string {
  const { file, kind, ours, paidAt, recordId, theirs, transactionId } = discrepancy;
  const place = file.line === null ? 'not in the file' : `line ${file.line}`;
  const when = paidAt === null ? 'no time' : toDateTime(paidAt);
  const named = `${transactionId || '(no transaction id)'} ${recordId}`.trim();
  return `${classNames[kind].padEnd(14)}  ${place}, ${when}  ${named}  here ${sideText(ours)}, there ${sideText(theirs)}  [${id}]`;
}

/** `succeeded RM 120.50`, or `nothing`. */
export function sideText(side: DiscrepancyFound['ours'] | DiscrepancyFound['theirs']): string {
  if (!side) return 'nothing';
  const { amountSen, currency, status } = side;
  const foreign = isRinggit(currency) ? '' : ` (${currency.toUpperCase()})`;
  return `${status.replace('_', ' ')}${amountSen === null ? '' : ` ${displaySen(amountSen)}`}${foreign}`;
}

/** What was compared, in sentences. */
export function scopeText({ merchantCodes, period, rows, source }: Summary): string {
  const whose = merchantCodes === null ? 'every merchant' : merchantCodes.join(', ');
  const scope = period
    ? `Payments of ${whose} from ${toDateTime(period.start)} to before ${toDateTime(period.end)} were looked for in it.`
    : 'No row has a time: payments that the file lacks were not looked for.';
  return `Export of the ${source}, ${rows} ${rows === 1 ? 'row' : 'rows'}. ${scope}`;
}

/** The scope, a table of the classes, and what is new. */
export function summaryText(summary: Summary): string {
  const { badRows, classes, opened, cleared } = summary;
  const row = (name: string, ...cells: string[]) =>
    [name.padEnd(16), ...cells.map((cell, index) => cell.padStart(index === 0 ? 9 : 20))].join('').trimEnd();
  const table = verdictClasses.map((each) => {
    const { count, oursSen, theirsSen } = classes[each];
    return row(classNames[each], String(count), displaySen(oursSen as Sen), displaySen(theirsSen as Sen));
  });
  return [
    scopeText(summary),
    '',
    row('', 'count', 'paid here', 'paid there'),
    ...table,
    row('unreadable rows', String(badRows)),
    '',
    `${opened} new ${opened === 1 ? 'discrepancy' : 'discrepancies'}, ${cleared} earlier ${cleared === 1 ? 'one' : 'ones'} cleared.`,
  ].join('\n');
}
