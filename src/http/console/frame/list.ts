/** Lists that are read page by page: where a page ends, and the links to the first page and the next. */
import { HttpProblem } from '../../server/errors.ts';
import { queryOf } from './fields.ts';

type QueryFields = Readonly<Record<string, string | null | undefined>>;

/** The key of a page's last row, as the link to the next page holds it. */
export type Cursor = { at: Date; ids: readonly string[] };

const cursorPattern = /^(\d{1,14})((?:~[\w/-]{1,80})+)$/;

export const noSuchPage = () => new HttpProblem(400, 'The list has no such page');

export function cursorText(at: Date, ...ids: readonly string[]): string {
  return [at.getTime(), ...ids].join('~');
}

/** Null for the first page. Throws HttpProblem for a cursor that no link of ours has. */
export function readCursor(text: string | undefined, idCount: number): Cursor | null {
  if (text === undefined) return null;
  const [, ms = '', rest = ''] = cursorPattern.exec(text) ?? [];
  const ids = rest.split('~').slice(1);
  if (ids.length !== idCount) throw noSuchPage();
  return { at: new Date(Number(ms)), ids };
}

/**
 * The rows of a page, and the model of views/console/pages.njk. `found` holds one row more than `size` where another
 * page follows; `filter` is the query of the list, and `nextAfter` adds what the page after a row begins with.
 */
export function pageOf<Row>(
  found: readonly Row[],
  {
    size,
    path,
    filter = {},
    isFirst,
    nextAfter,
  }: {
    size: number;
    path: string;
    filter?: QueryFields;
    isFirst: boolean;
    nextAfter(last: Row): QueryFields;
  },
) {
  const rows = found.slice(0, size);
  const last = found.length > size ? rows.at(-1) : undefined;
  const next = last ? nextAfter(last) : null;
  return {
    rows,
    next,
    firstUrl: isFirst ? null : `${path}${queryOf(filter)}`,
    nextUrl: next && `${path}${queryOf({ ...filter, ...next })}`,
  };
}
