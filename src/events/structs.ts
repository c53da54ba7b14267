/** Structs that several event files share. */
import { define } from 'superstruct';
import type { Sen } from './money.ts';

export const sen = define<Sen>('sen', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
export const utc = define<string>(
  'UTC time',
  (value) => typeof value === 'string' && /^\d{4}-.*Z$/.test(value),
);
