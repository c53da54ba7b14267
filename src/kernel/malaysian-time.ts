/** Time is stored in UTC (ISO 8601 with `Z`) and shown and sent in Asia/Kuala_Lumpur, which has had no change of offset since 1982. */

const offsetMs = 8 * 60 * 60 * 1000;

/** `2026-11-20T01:02:03.000Z` → `2026-11-20T09:02:03+08:00` */
export function toIsoWithOffset(utc: string): string {
  return `${shifted(utc)}+08:00`;
}

/** `2026-11-20T01:02:03.000Z` → `2026-11-20 09:02:03` */
export function toDateTime(utc: string): string {
  return shifted(utc).replace('T', ' ');
}

/** `2026-11-20T01:02:03.000Z` → `20261120090203` */
export function toDigits(utc: string): string {
  return shifted(utc).replace(/\D/g, '');
}

/** The Malaysian day of a moment: `2026-11-20T16:00:00.000Z` → `2026-11-21` */
export function dayOf(utc: string): string {
  return shifted(utc).slice(0, 10);
}

/** When a Malaysian day begins and the next one does, in UTC; null for what is no day of a calendar in `YYYY-MM-DD`. */
export function boundsOfDay(day: string): { start: string; end: string } | null {
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? readGatewayTime(`${day} 00:00:00`) : null;
  if (start === null) return null;
  return { start, end: new Date(Date.parse(start) + 24 * 60 * 60 * 1000).toISOString() };
}

// No other centuries: year 0 and year 10000 of another offset are no four-digit years in UTC.
const forms = [
  /^((?:19|20)\d\d)-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/,
  /^((?:19|20)\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/,
];

/**
 * Reads a gateway's time in any of the three forms above (ISO 8601 may carry another offset; without one
 * it is Malaysian time). Returns UTC as ISO 8601, or null when it is none of them or no real moment.
 */
export function readGatewayTime(text: string): string | null {
  for (const form of forms) {
    const match = form.exec(text.trim());
    if (!match) continue;
    const [, year, month, day, hour, minute, second, zone = '+08:00'] = match;
    const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
    // Date rolls 31 February over into March: a wall clock that does not come back was never real.
    const asUtc = new Date(`${wall}Z`);
    if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(wall)) return null;
    const moment = new Date(`${wall}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`);
    return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
  }
  return null;
}

const moment = /^((?:19|20)\d\d-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,3})?(?:(Z)|([+-]\d\d):?(\d\d))?$/;

/**
 * Reads a day or a moment as people type it: `2026-11-20`, `2026-11-20 14:00`, `2026-11-20T14:00:30.5Z`. Without an
 * offset it is Malaysian time. Returns UTC, of a day when it begins and the next one does, of a moment twice the same;
 * null when there is no such thing.
 */
export function readSpan(text: string): { start: string; end: string } | null {
  const day = boundsOfDay(text);
  const match = moment.exec(text);
  if (day || !match) return day;
  const [, date, minute, second = ':00', fraction = '', z, hours = '+08', minutes = '00'] = match;
  const wall = `${date}T${minute}${second}`;
  const asUtc = new Date(`${wall}Z`);
  if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(wall)) return null;
  const at = new Date(`${wall}${fraction}${z ?? `${hours}:${minutes}`}`);
  if (Number.isNaN(at.getTime())) return null;
  return { start: at.toISOString(), end: at.toISOString() };
}

/** The last moment of the time or day that a text says, in the forms of `readSpan`; null where it says none. */
export function lastMomentOf(text: string): string | null {
  const span = readSpan(text);
  if (span === null || span.start === span.end) return span?.end ?? null;
  return new Date(Date.parse(span.end) - 1).toISOString();
}

/**
 * Up to when is known what people ask for as known at a time or day: its last moment, but never later than now, since
 * that would be told otherwise later. Null for what is no time.
 */
export function parseAsOf(text: string, now: Date): Date | null {
  const last = lastMomentOf(text);
  return last === null ? null : new Date(Math.min(Date.parse(last), now.getTime()));
}

function shifted(utc: string): string {
  return new Date(new Date(utc).getTime() + offsetMs).toISOString().slice(0, 19);
}
