/** What counts as an email address, wherever one is entered. */

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';

/** The pattern of HTML's email fields, with a dot in the domain. */
export const emailPattern = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${label}(?:\\.${label})+$`);

/** The same without what mail servers refuse before the @: a dot at either end, or two in a row. */
export const deliverablePattern = new RegExp(`^(?!\\.|[^@]*\\.[.@])${emailPattern.source.slice(1)}`);

/** The longest address that fits in a path of RFC 5321. */
export const maxEmailLength = 254;
