/** Spans of the calendar, such as 7 years. */

export type Period = { count: number; unit: 'years' | 'months' | 'days' };

/** The moment `period` before `now`, in UTC. The day before a month that is too short is its last. */
export function earlierBy(now: Date, { count, unit }: Period): Date {
  const then = new Date(now);
  if (unit === 'days') then.setUTCDate(then.getUTCDate() - count);
  else {
    const day = then.getUTCDate();
    then.setUTCMonth(then.getUTCMonth() - count * (unit === 'years' ? 12 : 1));
    // 31 March less a month would be 3 March.
    if (then.getUTCDate() !== day) then.setUTCDate(0);
  }
  return then;
}
