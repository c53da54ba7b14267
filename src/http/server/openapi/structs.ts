/** Structs of answers that several interfaces share, each with its JSON Schema. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { type JsonSchema, withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { pattern, type Struct, string } from 'superstruct';

export const matching = (regex: RegExp, keywords: JsonSchema = {}): Struct<string, unknown> =>
  withJsonSchema(pattern(string(), regex), { type: 'string', ...keywords, pattern: regex.source });

/** ISO 8601, in Malaysia. */
export const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/, { format: 'date-time' });

export const id = matching(derivedIdPattern);
