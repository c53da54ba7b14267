/** Times are stored in UTC (ISO 8601 with `Z`), shown and sent in Asia/Kuala_Lumpur (one offset since 1982). */

const offsetMs = 8 * 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;

/** `2026-11-20T01:02:03.000Z` → `2026-11-20T09:02:03+08:00` */
export const toIsoWithOffset = (utc: string): string => `${shifted(utc)}+08:00`;

/** `2026-11-20T01:02:03.000Z` → `2026-11-20 09:02:03` */
export const toDateTime = (utc: string): string => shifted(utc).replace('T', ' ');

/** `2026-11-20T01:02:03.000Z` → `20261120090203` */
export const toDigits = (utc: string): string => shifted(utc).replace(/\D/g, '');

/** The Malaysian day of a moment: `2026-11-20T16:00:00.000Z` → `2026-11-21` */
export const dayOf = (utc: string): string => shifted(utc).slice(0, 10);

/** The day before that. */
export function dayBefore(utc: string): string {
  return dayOf(new Date(Date.parse(utc) - dayMs).toISOString());
}

/** When a Malaysian day begins and the next one does, in UTC; null unless `day` is a real day in `YYYY-MM-DD`. */
export function boundsOfDay(day: string): { start: string; end: string } | null {
  const start = /^(?:19|20)\d\d-\d\d-\d\d$/.test(day) ? momentOf(`${day}T00:00:00`) : null;
  if (start === null) return null;
  return { start, end: new Date(Date.parse(start) + dayMs).toISOString() };
}

// Nothing was paid here before 2020: 1900 and 1970 stand for no time, 2000 and later years for a clock that was not set.
const ofGateway = /^(20[2-9]\d-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Reads a gateway's time in any of the three forms above (ISO 8601 may carry another offset; without one it is
 * Malaysian time). Returns UTC as ISO 8601, or null when it has none of these forms or is not a real moment since 2020.
 */
export function readGatewayTime(text: string): string | null {
  const separated = text.trim().replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3 $4:$5:$6');
  const [, date, time, zone] = ofGateway.exec(separated) ?? [];
  return date === undefined ? null : momentOf(`${date}T${time}`, '', zone);
}

const typed = /^((?:19|20)\d\d-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,3})?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Reads a day or a moment as people type it: `2026-11-20`, `2026-11-20 14:00`, `2026-11-20T14:00:30.5Z`. Without an
 * offset it is Malaysian time. Returns in UTC the start and end of a day, or a moment as both; null when it is neither.
 */
export function readSpan(text: string): { start: string; end: string } | null {
  const match = typed.exec(text);
  if (!match) return boundsOfDay(text);
  const [, date, minute, second = ':00', fraction = '', zone] = match;
  const at = momentOf(`${date}T${minute}${second}`, fraction, zone);
  return at === null ? null : { start: at, end: at };
}

/** UTC, or null when there is no such moment. */
function momentOf(wall: string, fraction = '', zone = '+08:00'): string | null {
  // Date turns 31 February into a day in March: a wall clock that does not survive the round trip is not real.
  const asUtc = new Date(`${wall}Z`);
  if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(wall)) return null;
  const moment = new Date(wall + fraction + zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}

/** The last moment of a day, of a second, or of a moment with fractions, in UTC; null when `readSpan` reads none of them. */
export function lastMomentOf(text: string): string | null {
  const span = readSpan(text);
  if (span === null || /\.\d/.test(text)) return span?.end ?? null;
  return new Date(Date.parse(span.end) + (span.start === span.end ? 999 : -1)).toISOString();
}

/**
 * The as-of time for a day or moment that people type: its last moment, but never later than now, because more may
 * still be recorded by then. Null when it is neither.
 */
export function parseAsOf(text: string, now: Date): Date | null {
  const last = lastMomentOf(text);
  return last === null ? null : new Date(Math.min(Date.parse(last), now.getTime()));
}

function shifted(utc: string): string {
  return new Date(new Date(utc).getTime() + offsetMs).toISOString().slice(0, 19);
}
