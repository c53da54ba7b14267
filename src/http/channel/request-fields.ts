/** What the fields of a payment request may hold, on either channel, and what is said when they hold something else. */
import { coerce, Struct, unknown, validate } from 'superstruct';
import type { Merchant } from '../../config/merchants.ts';
import { emailPattern, maxEmailLength } from '../../events/email-address.ts';
import { type AmountFault, formatSen, parseAmount, type Sen } from '../../events/money.ts';
import { HttpProblem } from '../errors.ts';

/**
 * Reads a body: masks fields that its struct does not know, and throws HttpProblem 400 naming every field at fault,
 * as in `items[3].amount`, counted from 0, never a value.
 */
export function readFields<T>(body: unknown, struct: Struct<T, unknown>): T {
  if (!isObject(body)) throw badRequest('The body must be a JSON object');
  const [error, read] = validate(body, struct, { coerce: true, mask: true });
  if (!error) return read;
  throw badRequest(
    error
      .failures()
      .map(({ path, message }) => `${nameOf(path)} ${message}`)
      .join('; '),
  );
}

function nameOf(path: readonly unknown[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`))
    .join('');
}

/** Throws HttpProblem 400 when `field` names a host that this merchant's payers may not be sent to. */
export function checkRedirectHost(
  field: string,
  url: string,
  { redirectHosts }: Pick<Merchant, 'redirectHosts'>,
): void {
  if (redirectHosts && !redirectHosts.includes(new URL(url).hostname))
    throw badRequest(`${field} names a host that is not registered for this merchant`);
}

export function badRequest(message: string): HttpProblem {
  return new HttpProblem(400, 'badRequest', message);
}

// ── Kinds of field ───────────────────────────────────────────────────────────────────────────────────

type TextFault = (text: string) => string | null;

/** A text that must be there, of at most `maxLength` code points. */
export function required(maxLength: number, faultOf: TextFault = () => null): Struct<string, null> {
  return field<string>(
    (sent) => sent ?? '',
    (value) => {
      if (typeof value !== 'string') return 'must be text';
      return value.trim() === '' ? 'is required' : (textFault(value, maxLength) ?? faultOf(value));
    },
  );
}

/** A text of at most `maxLength` code points; `''` where none was sent. */
export function optional(maxLength: number, faultOf: TextFault = () => null): Struct<string, null> {
  return field<string>(
    (sent) => sent ?? '',
    (value) => {
      if (typeof value !== 'string') return 'must be text';
      return value === '' ? null : (textFault(value, maxLength) ?? faultOf(value));
    },
  );
}

/** The caller's own name of the payment. One that differs only by a space would be another that looks the same. */
export const reference = required(100, (value) =>
  value === value.trim() ? null : 'must not begin or end with a space',
);

export const email = optional(maxEmailLength, (value) =>
  emailPattern.test(value) ? null : 'must be an email address',
);

/** http or https, and https alone in production. */
export function url(production: boolean): Struct<string, null> {
  return required(2000, (value) => urlFault(value, production));
}

export function amount(maxSen: Sen): Struct<Sen, null> {
  const messages: Readonly<Record<AmountFault | 'missing', string>> = {
    missing: 'is required',
    not_numeric: 'must be a number or a numeric text such as 10.50',
    too_many_decimals: 'must have at most two decimals',
    not_positive: 'must be more than 0.00',
    too_large: `must be at most ${formatSen(maxSen)}`,
  };
  return field<Sen>(
    (sent) => ((sent ?? '') === '' ? 'missing' : parseAmount(sent, maxSen)),
    (parsed) => (typeof parsed === 'number' ? null : messages[parsed as keyof typeof messages]),
  );
}

/** An object that anything of reasonable size may be in; `{}` where none was sent. */
export function extra(): Struct<Record<string, unknown>, null> {
  return field<Record<string, unknown>>((sent) => sent ?? {}, extraFault);
}

/** As `extra`, with fields of `struct` in it that are known. */
export function extraWith<T, Schema>(struct: Struct<T, Schema>): Struct<T, Schema> {
  return coerce(worded(struct, extraFault), unknown(), (sent) => sent ?? {});
}

/** A list or object whose members are only looked into when `faultOf` has nothing to say about the whole. */
export function worded<T, Schema>(
  struct: Struct<T, Schema>,
  faultOf: (value: unknown) => string | null,
): Struct<T, Schema> {
  return new Struct<T, Schema>({
    ...struct,
    validator: (value) => faultOf(value) ?? true,
    *entries(value, context) {
      if (faultOf(value) === null) yield* struct.entries(value, context);
    },
  });
}

/** A field: `read` turns what was sent into the value or leaves it as it is, `faultOf` says what is wrong with that. */
function field<T>(
  read: (sent: unknown) => unknown,
  faultOf: (value: unknown) => string | null,
): Struct<T, null> {
  return new Struct<T, null>({
    type: 'field',
    schema: null,
    coercer: read,
    validator: (value) => faultOf(value) ?? true,
  });
}

// ── What can be wrong ────────────────────────────────────────────────────────────────────────────────

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textFault(value: string, maxLength: number): string | null {
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) return 'must not contain control characters';
  // A code point is at most two code units: short texts need no counting.
  const tooLong = value.length > maxLength && Array.from(value).length > maxLength;
  return tooLong ? `must be at most ${maxLength} characters` : null;
}

/** Stricter than URL.parse, which forgives spaces, backslashes and missing slashes that other readers take otherwise. */
function urlFault(value: string, production: boolean): string | null {
  const parsed = /^https?:\/\/[^\s\\]+$/i.test(value) ? URL.parse(value) : null;
  if (!parsed) return 'must be an http or https URL';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password';
  return production && parsed.protocol !== 'https:' ? 'must be an https URL' : null;
}

const maxExtraBytes = 8 * 1024;
const maxExtraDepth = 5;

function extraFault(value: unknown): string | null {
  if (!isObject(value)) return 'must be an object';
  // Depth first: writing a very deep value as JSON would run out of stack.
  if (!isStorable(value, maxExtraDepth))
    return `must hold at most ${maxExtraDepth} levels, finite numbers, and text without U+0000`;
  return Buffer.byteLength(JSON.stringify(value)) > maxExtraBytes
    ? `must be at most ${maxExtraBytes} bytes of JSON`
    : null;
}

function isStorable(value: unknown, depthLeft: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depthLeft === 0) return false;
  return Object.entries(value).every(
    ([key, member]) => isStorable(key, 0) && isStorable(member, depthLeft - 1),
  );
}
