/** The fields of a payment request on either channel: what they may hold, and the message when a value is invalid. */
import { emailPattern, maxEmailLength } from '@ledger/kernel/email-address.ts';
import { type JsonSchema, withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { jsonSchemaOf } from '@ledger/openapi/json-schema.ts';
import { coerce, Struct, unknown } from 'superstruct';
import { readGatewayTime } from '../../common/malaysian-time.ts';
import { type AmountFault, formatSen, parseAmount, type Sen } from '../../common/money.ts';
import type { Merchant } from '../../config/merchants.ts';
import { HttpProblem } from '../server/context.ts';

/** Throws HttpProblem 400 when `field` names a host that this merchant's payers may not be sent to. */
export function checkRedirectHost(
  field: string,
  url: string,
  { redirectHosts }: Pick<Merchant, 'redirectHosts'>,
): void {
  if (redirectHosts && !redirectHosts.includes(new URL(url).hostname))
    throw new HttpProblem(400, `${field} names a host that is not registered for this merchant`);
}

type TextRule = {
  faultOf(text: string): string | null;
  /** The same rule as a regular expression for the whole text, without anchors. */
  pattern: string;
  format?: 'uri';
  anyOf?: JsonSchema[];
  /** What `pattern` cannot express. */
  description?: string;
};

/** Control characters, line breaks, lone surrogates, and what changes the direction of the text around it. */
const notPlain = '\\p{Cc}\\p{Cs}\\u2028-\\u202E\\u2066-\\u2069';
const plainText = `[^${notPlain}]*`;
const plainTextPattern = new RegExp(`^${plainText}$`, 'u');
/** A character that is seen: not drawn as nothing (DI), and not U+2800, a Braille cell without dots. */
const visible = '[^\\s\\p{DI}\\u2800]';
const hasVisible = new RegExp(visible, 'u');
const notPlainFault = 'must be plain text, without control characters or broken characters';
const anyText: TextRule = { faultOf: () => null, pattern: plainText };

/** A text that must be present, of at most `maxLength` code points. */
export function required(maxLength: number, rule: TextRule = anyText): Struct<string, unknown> {
  const { faultOf, pattern, ...keywords } = rule;
  return field(
    orEmpty,
    (value) =>
      typeof value === 'string' && !hasVisible.test(value)
        ? 'is required'
        : textFault(value, maxLength, faultOf),
    { type: 'string', ...keywords, minLength: 1, maxLength, pattern: `^(?=.*${visible})${pattern}$` },
  );
}

/** A text of at most `maxLength` code points; `''` where none was sent. */
export function optional(maxLength: number, rule: TextRule = anyText): Struct<string, unknown> {
  const { faultOf, pattern, ...keywords } = rule;
  return field(orEmpty, (value) => (value === '' ? null : textFault(value, maxLength, faultOf)), {
    type: ['string', 'null'],
    ...keywords,
    maxLength,
    pattern: `^(?:${pattern})?$`,
  });
}

const orEmpty = (sent: unknown) => sent ?? '';

/**
 * The caller's own reference of the payment. Forms of one text that look the same would be payments of their own, so
 * only one of them is accepted. Letters of different scripts may still look alike.
 */
export const reference = required(100, {
  faultOf(value) {
    if (/^ | $| {2}|[^\S ]/.test(value))
      return 'must have no spaces but single ones (U+0020) between other characters';
    if (value !== value.normalize()) return 'must be in Unicode normalisation form C (NFC)';
    // Clients and proxies resolve them in the path of a requery.
    if (/^\.\.?$/.test(value)) return 'must not be . or ..';
    // Bytes that are not UTF-8 arrive as this character: two references in Latin-1 would become one payment.
    if (value.includes('\ufffd')) return notPlainFault;
    return /[\p{Cf}\p{DI}\u2800]/u.test(value) ? 'must not contain invisible characters' : null;
  },
  pattern: '(?!\\.\\.?$)(?:[^\\s\\p{Cc}\\p{Cs}\\uFFFD\\p{Cf}\\p{DI}\\u2800]+(?: (?=\\S)|$))+',
  description: 'In Unicode normalisation form C (NFC)',
});

/** A text that is missing or visible. */
export const notBlank: TextRule = {
  faultOf: (value) => (hasVisible.test(value) ? null : 'must not be blank'),
  pattern: `(?=.*${visible})${plainText}`,
};

export const email = optional(maxEmailLength, {
  faultOf: (value) => (emailPattern.test(value) ? null : 'must be an email address'),
  pattern: emailPattern.source.slice(1, -1),
  anyOf: [{ format: 'email' }, { maxLength: 0 }],
});

/** An http or https URL; in production https only. */
export function url(production: boolean): Struct<string, unknown> {
  const scheme = production ? '[hH][tT][tT][pP][sS]' : '[hH][tT][tT][pP][sS]?';
  const rest = `[^\\s\\\\${notPlain}]*`;
  return required(2000, {
    faultOf: (value) => urlFault(value, production),
    pattern: `${scheme}:\\/\\/(?![^\\/?#]*@)(?![\\/?#])${rest}`,
    format: 'uri',
  });
}

export function amount(maxSen: Sen): Struct<Sen, unknown> {
  const max = formatSen(maxSen);
  const messages: Readonly<Record<AmountFault | 'missing', string>> = {
    missing: 'is required',
    not_numeric: 'must be a number or a numeric text such as 10.50',
    too_many_decimals: 'must have at most two decimals',
    not_positive: 'must be more than 0.00',
    too_large: `must be at most ${max}`,
  };
  return field(
    (sent) => (orEmpty(sent) === '' ? 'missing' : parseAmount(sent, maxSen)),
    (parsed) => (typeof parsed === 'number' ? null : messages[parsed as keyof typeof messages]),
    {
      type: ['number', 'string'],
      minimum: 0.01,
      maximum: Number(max),
      pattern: '^(?!0+(?:\\.0+)?$)\\d{1,9}(?:\\.\\d{1,2})?$',
      // JSON Schema cannot express it for a text, and most validators find that 4.35 is not a multiple of 0.01.
      description: `At most ${max}, with at most two decimals`,
    },
  );
}

const isoTime = /^(?:20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/;
const toUtc = (sent: unknown) =>
  typeof sent === 'string' && isoTime.test(sent) ? readGatewayTime(sent) : null;

/** A moment, in UTC; undefined where none was sent. */
export const moment = field<string | undefined>(
  (sent) => (sent === '' || sent === null ? undefined : (toUtc(sent) ?? sent)),
  (value) =>
    value === undefined || toUtc(value) === value ? null : 'must be a time such as 2026-11-30T23:59:59+08:00',
  { type: ['string', 'null'], anyOf: [{ format: 'date-time' }, { maxLength: 0 }], pattern: isoTime.source },
);

/** A free-form object of limited size; `{}` where none was sent. PHP sends an empty one as a list. */
export function extra(): Struct<Record<string, unknown>, unknown> {
  return field(orNoFields, extraFault, extraKeywords);
}

/** Like `extra`, but the known fields of `struct` are checked. */
export function extraWith<T>(struct: Struct<T, unknown>): Struct<T, unknown> {
  return coerce(worded(struct, extraFault, extraKeywords), unknown(), orNoFields);
}

const orNoFields = (sent: unknown) => (orEmpty(sent) === '' || isEmptyList(sent) ? {} : sent);
const isEmptyList = (sent: unknown) => Array.isArray(sent) && sent.length === 0;

/** A list or object whose members are checked only if `faultOf` accepts the whole; `keywords` are its JSON Schema. */
export function worded<T>(
  struct: Struct<T, unknown>,
  faultOf: (value: unknown) => string | null,
  keywords: JsonSchema = {},
): Struct<T, unknown> {
  const wordedStruct = new Struct<T, unknown>({
    ...struct,
    validator: (value) => faultOf(value) ?? true,
    *entries(value, context) {
      if (faultOf(value) === null) yield* struct.entries(value, context);
    },
  });
  return withJsonSchema(wordedStruct, { ...jsonSchemaOf(struct), ...keywords });
}

/** `read` converts what was sent, or leaves it unchanged; `faultOf` says what is wrong with the value. */
function field<T>(
  read: (sent: unknown) => unknown,
  faultOf: (value: unknown) => string | null,
  schema: JsonSchema,
): Struct<T, unknown> {
  const validator = (value: unknown) => faultOf(value) ?? true;
  // `coerce(define(…))` would wrap the validator in two more generators.
  return withJsonSchema(
    new Struct<T, unknown>({ type: 'field', schema: null, coercer: read, validator }),
    schema,
  );
}

export function objectFault(value: unknown): string | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'must be an object';
}

function textFault(value: unknown, maxLength: number, faultOf: TextRule['faultOf']): string | null {
  if (typeof value !== 'string') return 'must be text';
  if (!plainTextPattern.test(value)) return notPlainFault;
  // A code point is at most two code units: short texts need no counting.
  const tooLong = value.length > maxLength && Array.from(value).length > maxLength;
  return tooLong ? `must be at most ${maxLength} characters` : faultOf(value);
}

/** Stricter than URL.parse, which accepts spaces, backslashes and extra slashes that other parsers read differently. */
function urlFault(value: string, production: boolean): string | null {
  const parsed = /^https?:\/\/[^\s\\/?#][^\s\\]*$/i.test(value) ? URL.parse(value) : null;
  if (!parsed) return 'must be an http or https URL';
  if (/^[^/]*\/\/[^/?#]*@/.test(value)) return 'must not contain a user name or password';
  return production && parsed.protocol !== 'https:' ? 'must be an https URL' : null;
}

const maxExtraBytes = 8 * 1024;
const maxExtraDepth = 5;
const extraKeywords: JsonSchema = {
  type: ['object', 'null', 'string', 'array'],
  maxLength: 0,
  maxItems: 0,
  description: `At most ${maxExtraBytes} bytes of JSON and ${maxExtraDepth} levels; numbers up to ${Number.MAX_SAFE_INTEGER}; no text with U+0000 or broken characters`,
};

function extraFault(value: unknown): string | null {
  const fault = objectFault(value);
  if (fault !== null) return fault;
  // The depth is checked first: JSON.stringify of a very deep value would overflow the stack.
  if (!isStorable(value, maxExtraDepth))
    return `must hold at most ${maxExtraDepth} levels, numbers up to ${Number.MAX_SAFE_INTEGER}, and text without U+0000 or broken characters`;
  return Buffer.byteLength(JSON.stringify(value)) > maxExtraBytes
    ? `must be at most ${maxExtraBytes} bytes of JSON`
    : null;
}

function isStorable(value: unknown, depthLeft: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  // A larger number has lost digits: other account numbers would be the same request.
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value !== 'object' || value === null) return true;
  if (depthLeft === 0) return false;
  return Object.entries(value).every(
    ([key, member]) => isStorable(key, 0) && isStorable(member, depthLeft - 1),
  );
}
