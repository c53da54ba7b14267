/** Forms, queries and lists: what was typed, what a list is filtered by, and the links between its pages. */
import type { TimeSpan } from '@ledger/postgres/table.ts';
import { InvalidFields, note as noteField } from '../../../commands/fields.ts';
import { boundsOfDay } from '../../../common/malaysian-time.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import type { StaffContext } from './session.ts';

export type Fields = Readonly<Record<string, string | undefined>>;

type QueryFields = Readonly<Record<string, string | null | undefined>>;

/** The fields of a POST. One that is given twice counts as missing. */
export const readForm = (ctx: Context): Fields => textFieldsOf(ctx.request.body);

export const readQuery = (ctx: Context): Fields => textFieldsOf(ctx.query);

function textFieldsOf(fields: unknown): Fields {
  const entries = typeof fields === 'object' && fields !== null ? Object.entries(fields) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // Without a prototype, so that `constructor` is a field only if somebody sent it.
  return Object.assign(Object.create(null), Object.fromEntries(texts));
}

/** What was typed into several lines, with the line ends of a stored note; what is pasted from a spreadsheet has tabs. */
export const linesOf = (text = '') => text.replaceAll('\r\n', '\n').replaceAll('\t', ' ').trim();

/** A note or reason as staff give it. Throws InvalidFields. */
export function readNote(name: string, text: string | undefined): string {
  const [failure, note] = noteField.validate(linesOf(text));
  if (failure) throw new InvalidFields(`The ${name} ${failure.message}`);
  return note;
}

/** The choices of a filter: the merchants of a scope, or without one those of the configuration and `former` ones. */
export function merchantsFor(
  { state: { staff } }: StaffContext,
  configured: ReadonlyMap<string, { name: string }>,
  former: readonly string[] = [],
) {
  const codes = staff.merchants ?? new Set([...configured.keys(), ...former]);
  const nameOf = (code: string) => configured.get(code)?.name ?? code;
  return Array.from(codes, (value) => ({ value, name: nameOf(value), text: `${nameOf(value)} (${value})` }));
}

export const keysOf = <Key extends string>(texts: Readonly<Record<Key, unknown>>) =>
  Object.keys(texts) as Key[];

/** Null if nothing is chosen. Throws HttpProblem if the text is not one of the choices. */
export function readChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  if (text === undefined || text === '') return null;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new HttpProblem(400, 'The list has no such filter');
  return choice;
}

export const readText = (text: string | undefined): string | null => text?.trim() || null;

/** A Malaysian day. Throws HttpProblem for a day that does not exist. */
export function spanOfDay(text: string): TimeSpan {
  const bounds = boundsOfDay(text);
  if (bounds === null) throw new HttpProblem(400, 'There is no such day; write a day as 2026-11-20');
  return bounds;
}

/** The fields as a query; null and `''` are left out. */
export function queryOf(fields: QueryFields): string {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const query = new URLSearchParams(entries).toString();
  return query === '' ? '' : `?${query}`;
}

export const noSuchPage = () => new HttpProblem(400, 'The list has no such page');

/** The rows of a page, for views/console/pages.njk. `found` has as many rows as the limit if another page follows. */
export function pageOf<Row extends { cursor: string }>(
  found: readonly Row[],
  { after, limit }: { after: { cursor: string } | null; limit: number },
  path: string,
  filter: QueryFields = {},
) {
  const rows = found.slice(0, limit - 1);
  const next = found.length === limit ? rows.at(-1)?.cursor : undefined;
  return {
    rows,
    next,
    firstUrl: after === null ? null : `${path}${queryOf(filter)}`,
    nextUrl: next === undefined ? null : `${path}${queryOf({ ...filter, after: next })}`,
  };
}
