/** Keeps a JSON Schema with a struct, so that the API's description says what is validated. */
import { Struct } from 'superstruct';

export type JsonSchema = Readonly<Record<string, unknown>>;

const recorded = Symbol('JSON Schema');

type Recorded = { readonly [recorded]: JsonSchema };

/**
 * The same struct, with the JSON Schema (2020-12) of the values that it takes before it coerces them. The schema stays
 * with the struct through `defaulted`, `optional` and others that copy it.
 */
export function withJsonSchema<T>(struct: Struct<T, unknown>, jsonSchema: JsonSchema): Struct<T, Recorded> {
  // `new Struct` would wrap the validator once more, in a generator of its own for every value.
  return Object.assign(Object.create(Struct.prototype), struct, { schema: { [recorded]: jsonSchema } });
}

/** The schema that `withJsonSchema` recorded, if any. */
export function recordedSchema({ schema }: { schema: unknown }): JsonSchema | undefined {
  return typeof schema === 'object' && schema !== null && recorded in schema
    ? (schema as Recorded)[recorded]
    : undefined;
}
