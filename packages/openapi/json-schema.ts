/** The JSON Schema (2020-12) of a superstruct struct: recorded with the struct, or derived from its parts. */
import { type JsonSchema, recordedSchema } from '@ledger/kernel/with-json-schema.ts';
import { type Struct, validate } from 'superstruct';

/** Any struct: the type parameter of a struct is invariant. */
// biome-ignore lint/suspicious/noExplicitAny: no other type takes every struct
export type AnyStruct = Struct<any, unknown>;

const plainTypes: readonly string[] = ['string', 'number', 'integer', 'boolean'];

/**
 * Describes the values that a struct accepts before it coerces them. Throws on a struct whose rules cannot be read
 * because it is defined by a function or refined, unless it was made by `withJsonSchema`.
 */
export function jsonSchemaOf(struct: AnyStruct): JsonSchema {
  return recordedSchema(struct) ?? derivedSchema(struct);
}

function derivedSchema(struct: AnyStruct): JsonSchema {
  const { type, schema } = struct;
  // A struct that is refined, or that wraps another, checks its values in a function that cannot be read.
  if (struct.refiner.length > 0) throw new Error(`The rules of a ${type} cannot be read: describe it`);
  if (plainTypes.includes(type)) return { type };
  if (type === 'literal') return { const: schema };
  if (type === 'enums') return { type: 'string', enum: Object.values(schema as Record<string, string>) };
  if (type === 'array' && schema) return { type, items: jsonSchemaOf(schema as AnyStruct) };
  if ((type === 'object' || type === 'type') && schema)
    return objectSchema(schema as Record<string, AnyStruct>);
  throw new Error(`A struct of the type ${type} has no JSON Schema: describe it`);
}

/** Other keys are allowed, since they are masked. A field that accepts undefined is optional. */
function objectSchema(fields: Readonly<Record<string, AnyStruct>>): JsonSchema {
  const members = Object.entries(fields).map(([name, field]) => {
    const [fault, fallback] = validate(undefined, field, { coerce: true });
    const schema = jsonSchemaOf(field);
    return {
      name,
      required: fault !== undefined,
      schema: { ...schema, ...(fallback !== undefined && { default: fallback }) },
    };
  });
  const required = members.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
  };
}
