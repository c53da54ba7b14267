/** What an export should hold: only what lies within that is missing there. */
import type { TimeSpan } from '../postgres/time-span.ts';
import type { Verdict } from './compare.ts';
import { UnreadableExport } from './export-format.ts';
import type { StagedRecords } from './staged-records.ts';

/** Of a file that names no period. One odd time in it would make of all that was ever paid a difference. */
const maxDays = 366;
const dayMs = 24 * 60 * 60 * 1000;

/** `from` is included, `to` is not; null where it is for the file to say. UTC. */
export type AskedPeriod = { from: string | null; to: string | null };

export type Scope = {
  /** When the payments were paid; null where neither the file nor anybody says, so that none are looked for. */
  period: TimeSpan | null;
  /** Whose they are; null for everybody's. */
  merchantCodes: readonly string[] | null;
};

/**
 * From the first payment of the file to its last, where nothing else is asked, of the merchants that it names. Throws
 * UnreadableExport.
 */
export function scopeOf(asked: AskedPeriod, staged: Pick<StagedRecords, 'times' | 'merchantCodes'>): Scope {
  const codes = staged.merchantCodes();
  return {
    period: periodOf(asked, staged.times()),
    merchantCodes: codes.length === 0 || codes.includes('') ? null : codes,
  };
}

/** Whether a payment of that merchant, of that time, is one that the file should hold. */
export function isInScope(
  { merchantCode, paidAt }: Pick<Verdict, 'merchantCode' | 'paidAt'>,
  { merchantCodes, period }: Scope,
): boolean {
  if (!period || paidAt === null) return false;
  const paidMs = Date.parse(paidAt);
  const isWithin = paidMs >= Date.parse(period.start) && paidMs < Date.parse(period.end);
  return isWithin && (merchantCodes?.includes(merchantCode) ?? true);
}

function periodOf({ from, to }: AskedPeriod, times: { first: string; last: string } | null): TimeSpan | null {
  // Times of exports are of whole seconds: the last of them is within the period.
  const afterLast = times && new Date(Date.parse(times.last) + 1_000).toISOString();
  const start = from ?? times?.first;
  const end = to ?? afterLast;
  if (!start || !end) return null;
  const isAsked = from !== null && to !== null;
  if (!isAsked && Date.parse(end) - Date.parse(start) > maxDays * dayMs)
    throw new UnreadableExport(
      `The payments of the file are more than ${maxDays} days apart: say from when to when to compare`,
    );
  if (Date.parse(end) <= Date.parse(start)) throw new UnreadableExport('The period ends before it begins');
  return { start, end };
}
