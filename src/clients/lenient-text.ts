/** Fields of an answer that are texts by its interface: numbers and nulls are forgiven, what is missing is `''`. */
import { coerce, defaulted, literal, number, string, union } from 'superstruct';

export const lenientText = defaulted(
  coerce(string(), union([number(), literal(null)]), (value) => (value === null ? '' : String(value))),
  '',
);
