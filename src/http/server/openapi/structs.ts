/** Structs of answers that several interfaces share, each with its JSON Schema. */
import { pattern, type Struct, string } from 'superstruct';
import { derivedIdPattern } from '../../../kernel/derived-id.ts';
import { type JsonSchema, withJsonSchema } from '../../../kernel/with-json-schema.ts';
import { jsonSchemaOf } from './json-schema.ts';

export const matching = (regex: RegExp, keywords: JsonSchema = {}): Struct<string, unknown> =>
  withJsonSchema(pattern(string(), regex), { type: 'string', ...keywords, pattern: regex.source });

/** ISO 8601, in Malaysia. */
export const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/, { format: 'date-time' });

export const id = matching(derivedIdPattern);

/** The struct with descriptions of its fields, in front of what its own schema says about limits. */
export function describeFields<T extends object>(
  struct: Struct<T, unknown>,
  texts: Readonly<Record<keyof T & string, string>>,
): Struct<T, unknown> {
  const schema = jsonSchemaOf(struct);
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>).map(
    ([field, member]) => {
      const sentences = [texts[field as keyof T & string], member.description].filter(
        (it) => it !== undefined,
      );
      return [field, { ...member, description: sentences.join('. ') }];
    },
  );
  return withJsonSchema(struct, { ...schema, properties: Object.fromEntries(properties) });
}
