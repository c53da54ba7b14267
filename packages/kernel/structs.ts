/** Structs that several event files share. */
import { define, object, type Struct } from 'superstruct';

/** The number of uses of a passkey, as authenticators count them. */
export const counter = define<number>(
  'counter',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
/** A moment as ISO 8601 in UTC. */
export const utc = define<string>(
  'UTC time',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
);

/** A text of this form; a fault of the configuration says that it must be `as`. */
export const written = (form: RegExp, as: string) =>
  define<string>(as, (value) => typeof value === 'string' && form.test(value));

/**
 * superstruct's `object` for input from outside. Masking drops every unknown field, including one that is named like an
 * inherited method, such as toString: `object` would take it for a known field and quote its value in the error.
 */
export const maskable: typeof object = (schema?: object) =>
  object(Object.assign(Object.create(null), schema));

/** The union of the events of one kind of stream, from the structs of their data by event type. */
export type EventOf<Structs extends Record<string, Pick<Struct, 'TYPE'>>> = {
  [Type in keyof Structs]: { type: Type; data: Structs[Type]['TYPE'] };
}[keyof Structs];
