/** Structs that several event files share. */
import { define } from 'superstruct';
import type { Sen } from './money.ts';

export const sen = define<Sen>('sen', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
/** A moment as ISO 8601 in UTC that `new Date` can read: what is shown and sent is worked out from it. */
export const utc = define<string>(
  'UTC time',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
);
