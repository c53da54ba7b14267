/** The structs of fields that people fill in, each with its message, and the function that reads them. */
import { deliverablePattern, emailPattern, maxEmailLength } from '@ledger/kernel/email-address.ts';
import { readQuickly } from '@ledger/kernel/matches-schema.ts';
import { type JsonSchema, withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { define, type Struct, validate } from 'superstruct';

/** A sentence, or a field, such as `items[3].amount` (counted from 0), and what is wrong with it. Contains no value. */
type Fault = string | readonly [field: string, fault: string];

/** The message has every fault, with its field before it. */
export class InvalidFields extends Error {
  override name = 'InvalidFields';
  readonly faults: readonly Fault[];
  constructor(...faults: readonly Fault[]) {
    super(faults.map((each) => (typeof each === 'string' ? each : each.join(' '))).join('; '));
    this.faults = faults;
  }
}

/** Leaves out unknown fields and fills in defaults. The struct is one from `maskable`. Throws InvalidFields. */
export function readFields<T>(input: unknown, struct: Struct<T, unknown>): T {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new InvalidFields('The body must be a JSON object');
  const quick = readQuickly(input, struct);
  if (quick) return quick;
  const [error, fields] = validate(input, struct, { coerce: true, mask: true });
  if (!error) return fields;
  throw new InvalidFields(...error.failures().map(({ path, message }) => [nameOf(path), message] as const));
}

function nameOf(path: readonly unknown[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`))
    .join('');
}

/**
 * No control characters, line breaks, lone surrogates or changes of text direction; no space at either end; and not only
 * characters that nobody sees (`DI`: those that are drawn as nothing; U+2800 is Braille without a dot).
 */
const namePattern = /^(?!\s)(?=.*[^\s\p{DI}\u2800])[^\p{Cc}\p{Cs}\u2028-\u202E\u2066-\u2069]*(?<!\s)$/u;

export const name = text({ minLength: 2, maxLength: 200, pattern: namePattern });

export const maxNoteLength = 1_000;
/** Like a name, but with line breaks. */
const notePattern =
  /^(?!\s)(?=[\s\S]*[^\s\p{DI}\u2800])(?:\n|[^\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069])*(?<!\s)$/u;

/** The reason that staff give. */
export const note = text({ minLength: 1, maxLength: maxNoteLength, pattern: notePattern });

export const email = address(emailPattern);

/** The address of a new user, who will be sent emails. */
export const newEmail = address(deliverablePattern);

function address(pattern: RegExp) {
  return field(
    (text) => (text.length <= maxEmailLength && pattern.test(text) ? null : 'must be an email address'),
    { format: 'email', maxLength: maxEmailLength, pattern: pattern.source },
  );
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): Struct<Choice, unknown> {
  const struct = define<Choice>('choice', (value) =>
    choices.some((choice) => choice === value) ? true : `must be one of ${choices.join(', ')}`,
  );
  return withJsonSchema(struct, { type: 'string', enum: choices });
}

/** Lengths in code points. */
function text({ minLength, maxLength, pattern }: { minLength: number; maxLength: number; pattern: RegExp }) {
  const faultOf = (value: string) => {
    if (value === '' && minLength === 1) return 'must not be empty';
    const { length } = Array.from(value);
    if (length < minLength) return `must have at least ${minLength} characters`;
    if (length > maxLength) return `must have at most ${maxLength} characters`;
    return pattern.test(value)
      ? null
      : 'must have a visible character, no control characters, and no space at either end';
  };
  return field(faultOf, { minLength, maxLength, pattern: pattern.source });
}

/** `schema` is what `faultOf` checks, as JSON Schema. */
function field(faultOf: (text: string) => string | null, schema: JsonSchema): Struct<string, unknown> {
  const struct = define<string>('field', (value) => {
    if (value === undefined) return 'is required';
    return typeof value === 'string' ? (faultOf(value) ?? true) : 'must be text';
  });
  return withJsonSchema(struct, { type: 'string', ...schema });
}
