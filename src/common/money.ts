/** Money is a whole number of sen inside, text with two decimals outside. No floating-point arithmetic. */
import { define } from 'superstruct';

declare const unit: unique symbol;
/** A whole number of sen (RM 0.01), never negative. */
export type Sen = number & { readonly [unit]: 'sen' };

/** An amount in an event. */
export const sen = define<Sen>('sen', (value) => Number.isSafeInteger(value) && (value as number) >= 0);

/** Why an amount was refused; the caller words the message. */
export type AmountFault = 'not_numeric' | 'too_many_decimals' | 'not_positive' | 'too_large';

const numericText = /^\d{1,9}(\.\d{1,2})?$/;
/** The form of a sum of many payments, for `readAmount`. */
export const sumText = /^\d{1,12}(\.\d{1,2})?$/;

/**
 * Reads an amount in RM as it arrives from outside: a JSON number or a strict numeric string. Returns sen, or the
 * fault. A JSON number within a millionth of a sen of a whole sen is that sen, so that rounding noise in a caller's sum
 * (30.299999999999997) is accepted and a real third decimal (10.005) is not.
 */
export function parseAmount(value: unknown, maxSen: Sen): Sen | AmountFault {
  const sen = typeof value === 'number' ? senOfNumber(value) : senOfText(value);
  if (typeof sen === 'string') return sen;
  if (sen <= 0n) return 'not_positive';
  return sen > BigInt(maxSen) ? 'too_large' : (Number(sen) as Sen);
}

/**
 * Reads the amount of a gateway result or a registry record: like `parseAmount`, but zero is allowed, thousands
 * separators are refused and anything unreadable is null (which never equals the requested amount).
 */
export function readAmount(value: string, form = numericText): Sen | null {
  const sen = senOfText(value.trim(), form);
  return typeof sen === 'bigint' ? (Number(sen) as Sen) : null;
}

/** 12050 → `120.50`, the form in which every amount leaves the service. Sums may be bigint; none is negative. */
export function formatSen(sen: Sen | bigint): string {
  const digits = String(sen).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** 1234550 → `12,345.50`, for people, in a column that names the currency. */
export function groupedSen(sen: Sen | bigint): string {
  const [ringgit, cents] = formatSen(sen).split('.');
  return `${ringgit?.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`;
}

/** 1234550 → `RM 12,345.50`, for people; `USD 12,345.50` in another currency, as a gateway reported it. */
export function displaySen(sen: Sen | bigint, currency = ''): string {
  return `${isRinggit(currency) ? 'RM' : currency} ${groupedSen(sen)}`;
}

export const absolute = (sen: bigint) => (sen < 0n ? -sen : sen);

/** -1234550n → `-12,345.50` */
export const signedSen = (sen: bigint) => `${sen < 0n ? '-' : ''}${groupedSen(absolute(sen))}`;

export function addSen(...amounts: readonly Sen[]): Sen {
  return amounts.reduce<number>((sum, sen) => sum + sen, 0) as Sen;
}

/** Whether a currency, as a gateway names it, is MYR; `''` (none given) is. */
export const isRinggit = (currency: string): boolean => ['', 'MYR', 'RM'].includes(currency.toUpperCase());

function senOfText(value: unknown, form = numericText): bigint | AmountFault {
  if (typeof value !== 'string') return 'not_numeric';
  if (!form.test(value)) return /^\d{1,9}\.\d{3,}$/.test(value) ? 'too_many_decimals' : 'not_numeric';
  const [ringgit = '0', cents = ''] = value.split('.');
  return BigInt(ringgit + cents.padEnd(2, '0'));
}

function senOfNumber(value: number): bigint | AmountFault {
  if (!Number.isFinite(value)) return 'not_numeric';
  if (value < 0) return 'not_positive';
  if (value >= 1e15) return 'too_large';
  // toFixed writes the exact binary value rounded to 10 decimals: from here on everything is an integer.
  const tenthsOfNano = BigInt(value.toFixed(10).replace('.', ''));
  const perSen = 100_000_000n;
  const sen = (tenthsOfNano + perSen / 2n) / perSen;
  const noise = tenthsOfNano - sen * perSen;
  return noise > 100n || noise < -100n ? 'too_many_decimals' : sen;
}
