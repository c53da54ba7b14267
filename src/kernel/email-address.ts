/** What counts as an email address wherever one is given to us. */

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';

/** As HTML's email fields check it, with a dot in the domain. */
export const emailPattern = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${label}(?:\\.${label})+$`);

/** RFC 5321 has no room for more in a path. */
export const maxEmailLength = 254;
