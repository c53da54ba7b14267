/** The body of POST /generic/request: what each field may hold, and what is said when it holds something else. */
import { type Infer, object, Struct, validate } from 'superstruct';
import type { Merchant } from '../../config/merchants.ts';
import { emailPattern, maxEmailLength } from '../../events/email-address.ts';
import { type AmountFault, formatSen, parseAmount, type Sen } from '../../events/money.ts';
import { HttpProblem } from '../errors.ts';

export type RequestBody = Infer<ReturnType<typeof bodyStruct>>;

/**
 * Makes the function that reads a request body. It masks fields it does not know, fills optional ones with `''`
 * (extra: `{}`), and throws HttpProblem 400 naming every field at fault, never a value.
 */
export function createReadBody(config: { maxAmountSen: Sen; production: boolean }) {
  const struct = bodyStruct(config);
  return (body: unknown, { redirectHosts }: Pick<Merchant, 'redirectHosts'>): RequestBody => {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw badRequest('The body must be a JSON object');
    const [error, read] = validate(body, struct, { coerce: true, mask: true });
    if (error)
      throw badRequest(
        error
          .failures()
          .map(({ path, message }) => `${path.join('.')} ${message}`)
          .join('; '),
      );
    if (redirectHosts && !redirectHosts.includes(new URL(read.redirect_url).hostname))
      throw badRequest('redirect_url names a host that is not registered for this merchant');
    return read;
  };
}

/** Lengths in code points. */
function bodyStruct({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  const url = required((value) => textFault(value, 2000) ?? urlFault(value, production));
  return object({
    trans_id: required((value) => textFault(value, 100) ?? edgeFault(value)),
    amount: amount(maxAmountSen),
    service: required((value) => textFault(value, 100)),
    description: required((value) => textFault(value, 250)),
    callback_url: url,
    redirect_url: url,
    name: optional((value) => textFault(value, 150)),
    email: optional((value) => textFault(value, maxEmailLength) ?? emailFault(value)),
    ic_no: optional((value) => textFault(value, 50)),
    address_1: optional((value) => textFault(value, 200)),
    address_2: optional((value) => textFault(value, 200)),
    city: optional((value) => textFault(value, 100)),
    postcode: optional((value) => textFault(value, 20)),
    state: optional((value) => textFault(value, 100)),
    phone_no: optional((value) => textFault(value, 30)),
    extra: extra(),
  });
}

// ── Kinds of field ───────────────────────────────────────────────────────────────────────────────────

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

type TextFault = (text: string) => string | null;

function required(faultOf: TextFault): Struct<string, null> {
  return field<string>(
    (sent) => sent ?? '',
    (value) => {
      if (typeof value !== 'string') return 'must be text';
      return value.trim() === '' ? 'is required' : faultOf(value);
    },
  );
}

function optional(faultOf: TextFault): Struct<string, null> {
  return field<string>(
    (sent) => sent ?? '',
    (value) => {
      if (typeof value !== 'string') return 'must be text';
      return value === '' ? null : faultOf(value);
    },
  );
}

function amount(maxSen: Sen): Struct<Sen, null> {
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

function extra(): Struct<Record<string, unknown>, null> {
  return field<Record<string, unknown>>((sent) => sent ?? {}, extraFault);
}

// ── What can be wrong ────────────────────────────────────────────────────────────────────────────────

function textFault(value: string, maxLength: number): string | null {
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) return 'must not contain control characters';
  // A code point is at most two code units: short texts need no counting.
  const tooLong = value.length > maxLength && Array.from(value).length > maxLength;
  return tooLong ? `must be at most ${maxLength} characters` : null;
}

/** A reference that differs from another only by a space would be another payment that looks the same. */
function edgeFault(value: string): string | null {
  return value === value.trim() ? null : 'must not begin or end with a space';
}

/** Stricter than URL.parse, which forgives spaces, backslashes and missing slashes that other readers take otherwise. */
function urlFault(value: string, production: boolean): string | null {
  const url = /^https?:\/\/[^\s\\]+$/i.test(value) ? URL.parse(value) : null;
  if (!url) return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return production && url.protocol !== 'https:' ? 'must be an https URL' : null;
}

function emailFault(value: string): string | null {
  return emailPattern.test(value) ? null : 'must be an email address';
}

const maxExtraBytes = 8 * 1024;
const maxExtraDepth = 5;

function extraFault(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
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

function badRequest(message: string): HttpProblem {
  return new HttpProblem(400, 'badRequest', message);
}
