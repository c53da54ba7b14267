/** The CHECKSUM on the form that goes to the gateway and on the results that come back from it. */
import { createHmac } from 'node:crypto';
import { isSameText } from '@ledger/kernel/same-text.ts';
import type { GatewayFields } from './read-result.ts';

/**
 * The CHECKSUM over all other fields: lower-case hex HMAC-SHA256 of the fields sorted by name, each name and value
 * percent-encoded as in RFC 3986, joined as `NAME=value` with `&`.
 */
export function signFields(fields: GatewayFields, secret: string): string {
  const signed = Object.entries(fields)
    .filter(([name]) => !isChecksum(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`)
    .join('&');
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** Compares the CHECKSUM that the fields carry with the right one, in constant time. */
export function verifyFields(fields: GatewayFields, secret: string): 'valid' | 'wrong' | 'missing' {
  const given = Object.entries(fields).find(([name]) => isChecksum(name))?.[1];
  if (given === undefined) return 'missing';
  return isSameText(given, signFields(fields, secret)) ? 'valid' : 'wrong';
}

function isChecksum(name: string): boolean {
  return name.toUpperCase() === 'CHECKSUM';
}

/** As in RFC 3986: encodeURIComponent leaves five reserved characters unencoded. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
