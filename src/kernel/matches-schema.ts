/**
 * superstruct's `is`, several times as fast: it collects nothing to explain a failure with. Every event that is ever read
 * passes here, in a rebuild the whole log.
 */
import type { Struct } from 'superstruct';

type Check = (value: unknown) => boolean;
// biome-ignore lint/suspicious/noExplicitAny: a struct of whatever
type AnyStruct = Struct<any, any>;

const nowhere = { path: [], branch: [], mask: false };
const compiled = new WeakMap<AnyStruct, Check>();

/** Whether a value fits a struct, without coercion. */
export function matchesSchema(value: unknown, struct: AnyStruct): boolean {
  return checkOf(struct)(value);
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
  if (isPlainString(struct)) return (value) => typeof value === 'string';
  const isValid: Check = (value) => isEmpty(struct.validator(value, nowhere));
  if (hasNothingMore(struct)) return isValid;
  const fitsWithin = struct.type === 'object' && struct.schema ? fieldsOf(struct.schema) : entriesOf(struct);
  return (value) => isValid(value) && fitsWithin(value) && isEmpty(struct.refiner(value, nowhere));
}

/** superstruct's types that look at the parts of a value; those that are defined by a function of their own have none. */
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

/** Nothing within a value and no refinement: those that are refined have failures to go through, or need a value for it. */
function hasNothingMore({ type, refiner }: AnyStruct): boolean {
  if (withParts.has(type)) return false;
  try {
    return Array.isArray(refiner(undefined, nowhere));
  } catch {
    return false;
  }
}

/** Most fields are a `string()` without more to it, and need not be asked: those with more have failures to go through. */
function isPlainString(struct: AnyStruct): boolean {
  return (
    struct.type === 'string' &&
    Array.isArray(struct.refiner('', nowhere)) &&
    [null, undefined].every((value) => !isEmpty(struct.validator(value, nowhere)))
  );
}

/** As `object` does: the fields it names, and no others. */
function fieldsOf(schema: Readonly<Record<string, AnyStruct>>): Check {
  const fields = Object.keys(schema).map((key) => ({ key, check: checkOf(schema[key] as AnyStruct) }));
  const names = new Set(Object.keys(schema));
  return (value) => {
    // What may be null or left out instead was seen by the validator.
    if (typeof value !== 'object' || value === null) return true;
    for (const { key, check } of fields) if (!check(Reflect.get(value, key))) return false;
    for (const key of Object.keys(value)) if (!names.has(key)) return false;
    return true;
  };
}

function entriesOf(struct: AnyStruct): Check {
  return (value) => {
    for (const [, inner, innerStruct] of struct.entries(value, nowhere))
      if (!checkOf(innerStruct as AnyStruct)(inner)) return false;
    return true;
  };
}

function isEmpty(failures: Iterable<unknown>): boolean {
  if (Array.isArray(failures)) return failures.length === 0;
  for (const _ of failures) return false;
  return true;
}
