/**
 * Like superstruct's `is`, but many times as fast, because it does not collect the reasons for a failure. Every event that
 * is read passes through here; in a rebuild that is the whole log.
 */
import { dynamic, never, type Struct } from 'superstruct';
import { orElse } from './or-else.ts';

type Check = (value: unknown) => boolean;
// biome-ignore lint/suspicious/noExplicitAny: a struct of anything
type AnyStruct = Struct<any, any>;

const nowhere = { path: [], branch: [], mask: false };
const compiled = new WeakMap<AnyStruct, Check>();
const choices = new WeakMap<AnyStruct, (value: unknown) => AnyStruct>();

/** Whether a value matches a struct, without coercion. */
export function matchesSchema(value: unknown, struct: AnyStruct): boolean {
  return checkOf(struct)(value);
}

/**
 * What superstruct's `validate` makes of the fields that a struct from `maskable` names, with coercion, in half the time.
 * Undefined if one of them does not fit, or consists of parts, which may have a coercion of their own.
 */
export function readQuickly<T>(input: object, struct: Struct<T, unknown>): T | undefined {
  const schema = struct.schema as Readonly<Record<string, AnyStruct>>;
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(schema)) {
    const field = schema[name] as AnyStruct;
    if (withParts.has(field.type)) return undefined;
    const value: unknown = field.coercer(Reflect.get(input, name), nowhere);
    if (value !== undefined || name in input) fields[name] = value;
  }
  return matchesSchema(fields, struct) ? (fields as T) : undefined;
}

/** superstruct's `dynamic`, which this quick check sees through; `choose` has to return one of a few structs. */
export function chosen<T>(choose: (value: unknown) => Struct<T, unknown>): Struct<T, null> {
  const struct = dynamic<T>((value) => choose(value) as Struct<T>);
  choices.set(struct, choose);
  return struct;
}

const unknownKind = never();

/** The struct of values of several kinds: a union, which tries one after the other, takes three times as long to read. */
export function byKind<Structs extends Record<string, AnyStruct>>(
  structs: Structs,
): Struct<Structs[keyof Structs]['TYPE'], null> {
  return chosen((value) => {
    const kind: unknown = Reflect.get(Object(value), 'kind');
    const isKnown = typeof kind === 'string' && Object.hasOwn(structs, kind);
    return (isKnown ? structs[kind] : unknownKind) as AnyStruct;
  });
}

function checkOf(struct: AnyStruct): Check {
  let check = compiled.get(struct);
  if (!check) {
    check = compile(struct);
    compiled.set(struct, check);
  }
  return check;
}

function compile(struct: AnyStruct): Check {
  const choose = choices.get(struct);
  if (choose) return (value) => checkOf(choose(value))(value);
  const isOfType = typeCheckOf(struct);
  const hasValidParts = withParts.has(struct.type) ? partsCheckOf(struct) : undefined;
  const isRefined = !orElse(() => Array.isArray(struct.refiner(undefined, nowhere)), false);
  if (!hasValidParts && !isRefined) return isOfType;
  return (value) =>
    isOfType(value) &&
    (hasValidParts?.(value) ?? true) &&
    (!isRefined || isEmpty(struct.refiner(value, nowhere)));
}

/** What superstruct's own validators of these types say of any value but null and undefined. */
const typeChecks: Readonly<Record<string, (struct: AnyStruct) => Check>> = {
  string: () => (value) => typeof value === 'string',
  boolean: () => (value) => typeof value === 'boolean',
  integer: () => Number.isInteger,
  object: () => (value) => typeof value === 'object' && !Array.isArray(value),
  array: () => Array.isArray,
  enums: ({ schema }) => {
    const values: readonly unknown[] = Object.values(schema);
    return (value) => values.includes(value);
  },
};

function typeCheckOf(struct: AnyStruct): Check {
  const isValid: Check = (value) => isEmpty(struct.validator(value, nowhere));
  const isOfType = typeChecks[struct.type]?.(struct);
  if (!isOfType) return isValid;
  // `optional` and `nullable` leave the type as it is.
  const [takesNull, takesUndefined] = [isValid(null), isValid(undefined)];
  return (value) => {
    if (value === null) return takesNull;
    return value === undefined ? takesUndefined : isOfType(value);
  };
}

/** superstruct's types that also check the parts of a value. */
const withParts: ReadonlySet<string> = new Set([
  'array',
  'dynamic',
  'intersection',
  'lazy',
  'map',
  'object',
  'record',
  'set',
  'tuple',
  'type',
]);

/** Checks the parts of a value that has the type, or is null or undefined where the struct allows it. */
function partsCheckOf(struct: AnyStruct): Check {
  if (struct.type === 'object' && struct.schema) return fieldsCheckOf(struct.schema);
  return (value) => {
    for (const [, inner, innerStruct] of struct.entries(value, nowhere))
      if (!checkOf(innerStruct as AnyStruct)(inner)) return false;
    return true;
  };
}

/** Checks what `object` does: the fields that it names, and no others. */
function fieldsCheckOf(schema: Readonly<Record<string, AnyStruct>>): Check {
  const fields = Object.keys(schema).map((key) => ({ key, check: checkOf(schema[key] as AnyStruct) }));
  const names = new Set(Object.keys(schema));
  return (value) => {
    if (typeof value !== 'object' || value === null) return true;
    for (const { key, check } of fields) if (!check(Reflect.get(value, key))) return false;
    for (const key of Object.keys(value)) if (!names.has(key)) return false;
    return true;
  };
}

function isEmpty(failures: Iterable<unknown>): boolean {
  if (Array.isArray(failures)) return failures.length === 0;
  for (const _ of failures) return false;
  return true;
}
