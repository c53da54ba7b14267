/** Structs that several event files share. */
import { define, object, type Struct } from 'superstruct';
import type { Sen } from './money.ts';

export const sen = define<Sen>('sen', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
/** A moment as ISO 8601 in UTC. */
export const utc = define<string>(
  'UTC time',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
);

/**
 * superstruct's `object` for input from outside. Masking leaves out every unknown field, also one that is named like a
 * method of every object, such as toString: `object` takes that for one of its own and quotes its value in a refusal.
 */
export const maskable: typeof object = (schema?: object) =>
  object(Object.assign(Object.create(null), schema));

/** The events of a kind of stream, as a union, from the structs of their data by type. */
export type EventOf<Structs extends Record<string, Pick<Struct, 'TYPE'>>> = {
  [Type in keyof Structs]: { type: Type; data: Structs[Type]['TYPE'] };
}[keyof Structs];
