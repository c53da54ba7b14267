/** The time that an import looks for payments in which the file lacks. */
import type { TimeSpan } from '../projections/time-span.ts';
import { UnreadableExport } from './export-format.ts';

/** Of a file that names no period. One odd time in it would make of all that was ever paid a difference. */
const maxDays = 366;
const dayMs = 24 * 60 * 60 * 1000;

/** `from` is included, `to` is not; null where it is for the file to say. UTC. */
export type AskedPeriod = { from: string | null; to: string | null };

/**
 * From the first payment of the file to its last, where nothing else is asked; null when neither says. Throws
 * UnreadableExport.
 */
export function periodOf(
  { from, to }: AskedPeriod,
  times: { first: string; last: string } | null,
): TimeSpan | null {
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
