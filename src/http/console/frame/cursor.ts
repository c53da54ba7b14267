/** Where a page of a list ends, as its link to the next one says it. */
import { ConsoleProblem } from './problem.ts';

export type Cursor = { at: Date; ids: readonly string[] };

const form = /^(\d{1,14})((?:~[\w/-]{1,80})+)$/;

export function cursorText({ at, ids }: Cursor): string {
  return [at.getTime(), ...ids].join('~');
}

/** Null for the first page. Throws ConsoleProblem for what no link of ours says. */
export function readCursor(text: string | undefined, idCount: number): Cursor | null {
  if (text === undefined) return null;
  const [, ms = '', rest = ''] = form.exec(text) ?? [];
  const ids = rest.split('~').slice(1);
  if (ids.length !== idCount) throw new ConsoleProblem(400, 'The list has no such page');
  return { at: new Date(Number(ms)), ids };
}
