/** Up to which moment's knowledge a page of the journal is asked for. */
import { parseAsOf } from '../../../kernel/malaysian-time.ts';
import { ConsoleProblem } from '../frame/problem.ts';

/** Now, where nothing is typed. Throws ConsoleProblem for what is no time. */
export function readAsOf(text: string | undefined, now: Date): Date {
  if (text === undefined || text.trim() === '') return now;
  const asOf = parseAsOf(text.trim(), now);
  if (asOf === null)
    throw new ConsoleProblem(400, 'A time reads 2026-11-20T09:00:00+08:00, a day 2026-11-20');
  return asOf;
}
