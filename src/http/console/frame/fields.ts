/** What people typed: the fields of a form or a query, and what they filter a list by. */
import { boundsOfDay } from '../../../kernel/malaysian-time.ts';
import type { TimeSpan } from '../../../postgres/time-span.ts';
import type { Context } from '../../server/context.ts';
import { HttpProblem } from '../../server/errors.ts';

export type Fields = Readonly<Record<string, string | undefined>>;

/** The fields of a POST. One that is given twice counts as missing. */
export function readForm(ctx: Context): Fields {
  return textsOf(ctx.request.body);
}

/** The fields of the query, likewise. */
export function readQuery(ctx: Context): Fields {
  return textsOf(ctx.query);
}

function textsOf(fields: unknown): Fields {
  const entries = typeof fields === 'object' && fields !== null ? Object.entries(fields) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // Without a prototype, so that `constructor` is a field only where somebody sent one.
  return Object.assign(Object.create(null), Object.fromEntries(texts));
}

/** What a filter offers to choose from, by the text of each choice. */
export const optionsOf = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => ({ value, text }));

export const keysOf = <Key extends string>(texts: Readonly<Record<Key, unknown>>) =>
  Object.keys(texts) as Key[];

/** Null where nothing is chosen. Throws HttpProblem for anything but one of the choices. */
export function readChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  if (text === undefined || text === '') return null;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new HttpProblem(400, 'The list has no such filter');
  return choice;
}

/** Null where nothing was typed. */
export function readText(text: string | undefined): string | null {
  return text?.trim() || null;
}

/** A Malaysian day. Null where none is chosen; throws HttpProblem for a day that does not exist. */
export function readDay(text: string | null | undefined): TimeSpan | null {
  return text ? spanOfDay(text) : null;
}

/** A Malaysian day. Throws HttpProblem for a day that does not exist. */
export function spanOfDay(text: string): TimeSpan {
  const bounds = boundsOfDay(text);
  if (bounds === null) throw new HttpProblem(400, 'There is no such day; write a day as 2026-11-20');
  return bounds;
}

/** The fields as a query; null and `''` are left out. */
export function queryOf(fields: Readonly<Record<string, string | null | undefined>>): string {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const query = new URLSearchParams(entries).toString();
  return query === '' ? '' : `?${query}`;
}
