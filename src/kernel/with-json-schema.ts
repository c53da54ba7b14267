/** Keeps a JSON Schema beside a struct, so that what the API's description says is what validates. */
import { Struct } from 'superstruct';

export type JsonSchema = Readonly<Record<string, unknown>>;

const recorded = Symbol('JSON Schema');

type Recorded = { readonly [recorded]: JsonSchema };

/**
 * The same struct, with the JSON Schema (2020-12) of the values that it takes before it coerces them. It stays with
 * the struct through `defaulted`, `optional` and whatever else copies a struct.
 */
export function withJsonSchema<T>(struct: Struct<T, unknown>, jsonSchema: JsonSchema): Struct<T, Recorded> {
  return new Struct<T, Recorded>({ ...struct, schema: { [recorded]: jsonSchema } });
}

/** What `described` recorded; undefined where there is nothing. */
export function recordedSchema({ schema }: { schema: unknown }): JsonSchema | undefined {
  return typeof schema === 'object' && schema !== null && recorded in schema
    ? (schema as Recorded)[recorded]
    : undefined;
}
