/** What people filter lists by, read from the query; `''` is as if it were not there. */
import { boundsOfDay } from '../../../kernel/malaysian-time.ts';
import type { TimeSpan } from '../../../postgres/time-span.ts';
import { ConsoleProblem } from './problem.ts';

/** Null where nothing is chosen. Throws ConsoleProblem for what is no choice. */
export function readChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  if (text === undefined || text === '') return null;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new ConsoleProblem(400, 'The list has no such filter');
  return choice;
}

/** Null where nothing was typed. */
export function readText(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/** A Malaysian day. Null where none is chosen; throws ConsoleProblem for what is none. */
export function readDay(text: string | undefined): TimeSpan | null {
  return text === undefined || text === '' ? null : spanOfDay(text);
}

/** A Malaysian day. Throws ConsoleProblem for what is none. */
export function spanOfDay(text: string): TimeSpan {
  const bounds = boundsOfDay(text);
  if (bounds === null) throw new ConsoleProblem(400, 'There is no such day; a day reads 2026-11-20');
  return bounds;
}

/** The query that says the same; null and `''` are left out. */
export function queryOf(fields: Readonly<Record<string, string | null | undefined>>): string {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const query = new URLSearchParams(entries).toString();
  return query === '' ? '' : `?${query}`;
}
