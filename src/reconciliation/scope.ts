/** Which payments an export should hold: only those can be missing there. */
import type { TimeSpan } from '@ledger/postgres/table.ts';
import type { Verdict } from './compare.ts';
import { UnreadableExport } from './export-format.ts';
import type { StagedRecords } from './staged-records.ts';

/** The longest period that a file may define: otherwise one wrong time would make all payments discrepancies. */
const maxDays = 366;
const dayMs = 24 * 60 * 60 * 1000;

/** In UTC; `from` is included, `to` is not. Null where the file decides. */
export type AskedPeriod = { from: string | null; to: string | null };

export type ExportScope = {
  /** When the payments were paid; null if neither the file nor the user gives a period, so that none are looked for. */
  period: TimeSpan | null;
  /** Null for all merchants. */
  merchantCodes: readonly string[] | null;
};

/**
 * The merchants that the file names, and the period from its first payment to its last, unless another one is given.
 * Throws UnreadableExport.
 */
export function scopeOf(
  { from, to }: AskedPeriod,
  staged: Pick<StagedRecords, 'times' | 'merchantCodes'>,
): ExportScope {
  const codes = staged.merchantCodes();
  const merchantCodes = codes.length === 0 || codes.includes('') ? null : codes;
  const times = staged.times();
  // Exports give times in whole seconds: the last of them is within the period.
  const afterLast = times && new Date(Date.parse(times.last) + 1_000).toISOString();
  const start = from ?? times?.first;
  const end = to ?? afterLast;
  if (!start || !end) return { period: null, merchantCodes };
  const isAsked = from !== null && to !== null;
  if (!isAsked && Date.parse(end) - Date.parse(start) > maxDays * dayMs)
    throw new UnreadableExport(
      `The payments of the file are more than ${maxDays} days apart: give the period to compare`,
    );
  if (Date.parse(end) <= Date.parse(start)) throw new UnreadableExport('The period ends before it begins');
  return { period: { start, end }, merchantCodes };
}

export function isInScope(
  { merchantCode, paidAt }: Pick<Verdict, 'merchantCode' | 'paidAt'>,
  { merchantCodes, period }: ExportScope,
): boolean {
  if (!period || paidAt === null) return false;
  const paidMs = Date.parse(paidAt);
  const isWithin = paidMs >= Date.parse(period.start) && paidMs < Date.parse(period.end);
  return isWithin && (merchantCodes?.includes(merchantCode) ?? true);
}
