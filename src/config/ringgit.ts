/** An amount in a configuration file. */
import { coerce, define, number, string, union } from 'superstruct';
import { readAmount, type Sen } from '../common/money.ts';

/** An amount in RM, written as 1.5 or "1.50"; read as sen. */
export const ringgit = coerce(
  define<Sen>('an amount in RM such as 1.50', (value) => Number.isSafeInteger(value)),
  union([string(), number()]),
  (value) => readAmount(String(value)) as Sen,
);
