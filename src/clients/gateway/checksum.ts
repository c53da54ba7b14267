/** The CHECKSUM on the form that goes to the gateway and on the results that come back from it. */
import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { isSameText } from '@ledger/kernel/same-text.ts';
import type { GatewayFields } from './read-result.ts';

/**
 * The CHECKSUM over all other fields: lower-case hex HMAC-SHA256 of the fields sorted by name, each name and value
 * percent-encoded as in RFC 3986, joined as `NAME=value` with `&`.
 */
export function signFields(fields: GatewayFields, secret: string, bytesOf = utf8): string {
  const percentEncoded = (text: string) =>
    bytesOf(text)
      .toString('latin1')
      .replace(/[^\w.~-]/g, hexOf);
  const signed = Object.entries(fields)
    .filter(([name]) => !isChecksum(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`)
    .join('&');
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** Compares the CHECKSUM that the fields carry with the right one, in constant time. It may be over ISO-8859-1. */
export function verifyFields(fields: GatewayFields, secret: string): 'valid' | 'wrong' | 'missing' {
  const given = Object.entries(fields).find(([name]) => isChecksum(name))?.[1];
  if (given === undefined) return 'missing';
  const isValid = [utf8, latin1].some((bytesOf) => isSameText(given, signFields(fields, secret, bytesOf)));
  return isValid ? 'valid' : 'wrong';
}

function isChecksum(name: string): boolean {
  return name.toUpperCase() === 'CHECKSUM';
}

const utf8 = (text: string) => Buffer.from(text);

/** The bytes that a form in ISO-8859-1 had. Where they could be UTF-8, they were read as that. */
function latin1(text: string) {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text && !isUtf8(bytes) ? bytes : utf8(text);
}

const hexOf = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
