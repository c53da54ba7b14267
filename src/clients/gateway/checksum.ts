/** The CHECKSUM on the form that goes to the gateway and on the results that come back from it. */
import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { isSameText } from '@ledger/kernel/same-text.ts';
import { windows1252 } from '../../common/windows-1252.ts';
import type { GatewayFields } from './read-result.ts';

/**
 * The CHECKSUM over all other fields: lower-case hex HMAC-SHA256 of the fields sorted by name, each name and value
 * percent-encoded as in RFC 3986, joined as `NAME=value` with `&`.
 */
export function signFields(fields: GatewayFields, secret: string, encoded = percentEncoded): string {
  const signed = Object.entries(fields)
    .filter(([name]) => !isChecksum(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** Compares the CHECKSUM that the fields carry with the right one, in constant time. It may be over Windows-1252. */
export function verifyFields(fields: GatewayFields, secret: string): 'valid' | 'wrong' | 'missing' {
  const given = Object.entries(fields).find(([name]) => isChecksum(name))?.[1];
  if (given === undefined) return 'missing';
  const encodings = [percentEncoded, singleByteEncoded];
  const isValid = encodings.some((encoded) => isSameText(given, signFields(fields, secret, encoded)));
  return isValid ? 'valid' : 'wrong';
}

const isChecksum = (name: string) => name.toUpperCase() === 'CHECKSUM';

/** As in RFC 3986, over UTF-8: encodeURIComponent leaves five reserved characters unencoded. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => hexOf(character.charCodeAt(0)));
}

/** The same over Windows-1252, if the text is one that was read as that, because its bytes are not UTF-8. */
function singleByteEncoded(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return percentEncoded(text);
  const bytes = Array.from(text, (character) => windows1252.indexOf(character));
  if (bytes.includes(-1) || isUtf8(Buffer.from(bytes))) return percentEncoded(text);
  return text.replace(/\P{ASCII}|\p{ASCII}+/gu, (part) =>
    part < '\x80' ? percentEncoded(part) : hexOf(windows1252.indexOf(part)),
  );
}

const hexOf = (byte: number) => `%${byte.toString(16).toUpperCase()}`;
