/** What lists have in common: filters by day and amount, sorting, pages, totals, and the same rows as CSV. */
import { pagesOf } from '@ledger/kernel/pages.ts';
import { isCursor, type Listed, type Listing, type ListPage, type Totals } from '@ledger/postgres/listing.ts';
import type { AmountRange, TimeSpan } from '@ledger/postgres/table.ts';
import { readAmount } from '../../../common/money.ts';
import { listCsv } from '../../../statements/csv.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import {
  type Fields,
  noSuchPage,
  pageOf,
  queryOf,
  readQuery,
  readText,
  spanOfDay,
} from './forms-and-lists.ts';
import type { PageDependencies } from './page.ts';

const size = 50;
const sizeOfParts = 1_000;
const always: TimeSpan = { start: '1900-01-01T00:00:00Z', end: '2900-01-01T00:00:00Z' };

export type List<Row> = Listing & {
  path: string;
  /** The fields of the form that filters it. */
  fields: Readonly<Record<string, string | null>>;
  /** The fields of a row that are exported. */
  columns: readonly (keyof Row & string)[];
  read(page: ListPage): Promise<Listed<Row>[]>;
  count(): Promise<Totals | null>;
};

/** Malaysian days, both included; `day` is both. Throws HttpProblem for a day that does not exist. */
export function readDays({ day, from = day, to = day }: Fields) {
  const fields = { from: readText(from), to: readText(to) };
  if (fields.from === null && fields.to === null) return { fields, span: null };
  const { start } = fields.from === null ? always : spanOfDay(fields.from);
  const { end } = fields.to === null ? always : spanOfDay(fields.to);
  return { fields, span: { start, end } };
}

/** Throws HttpProblem for what is no amount. */
export function readAmounts({ least, most }: Fields) {
  const fields = { least: readText(least), most: readText(most) };
  const senOf = (text: string | null) => {
    const sen = text === null ? null : readAmount(text);
    if (text !== null && sen === null) throw new HttpProblem(400, 'Write an amount as 120.50');
    return sen;
  };
  const amounts: AmountRange = { least: senOf(fields.least), most: senOf(fields.most) };
  return { fields, amounts };
}

/** The model of views/console/list.njk; `typed` has the page and the order that are asked for. */
export async function readList<Row>(
  ctx: Context,
  { askReadModels, lastList }: Pick<PageDependencies, 'askReadModels' | 'lastList'>,
  list: List<Row>,
  { after, sort: typed }: Fields = readQuery(ctx),
  message?: string,
) {
  if (after !== undefined && !isCursor(after, list)) throw noSuchPage();
  const { fields, path, sorts } = list;
  const sort = readSort(typed, list);
  const [found, totals] = await askReadModels(
    ctx,
    [
      list.read({ limit: size + 1, after: after === undefined ? null : { cursor: after }, sort }),
      list.count(),
    ],
    message,
  );
  lastList.remember(ctx);
  const filter = { ...fields, sort };
  const page = { size, path, filter, isFirst: after === undefined };
  return {
    ...pageOf(found, page, ({ cursor }) => ({ after: cursor })),
    filter: fields,
    here: `${path}${queryOf({ ...filter, after })}`,
    totals,
    isFiltered: Object.values(fields).some((field) => field !== null),
    exportUrl: `${path}/export.csv${queryOf(filter)}`,
    sorts: sortLinks(list, sort ?? `-${Object.keys(sorts)[0]}`),
  };
}

function readSort(typed: string | undefined, { sorts }: Listing): string | null {
  if (typed === undefined) return null;
  if (!Object.hasOwn(sorts, typed.replace('-', '')))
    throw new HttpProblem(400, 'The list is not sorted like this');
  return typed;
}

/** For the headings: each sorts by its column, and the other way round where the list is sorted by it. */
function sortLinks({ fields, path, sorts }: Pick<List<unknown>, 'fields' | 'path' | 'sorts'>, sort: string) {
  const entries = Object.entries(sorts).map(([name, { type }]) => {
    const first = type === 'text' ? name : `-${name}`;
    const other = sort.startsWith('-') ? name : `-${name}`;
    const isCurrent = sort.replace('-', '') === name;
    const direction = sort.startsWith('-') ? 'descending' : 'ascending';
    const url = `${path}${queryOf({ ...fields, sort: isCurrent ? other : first })}`;
    return [name, { url, direction: isCurrent ? direction : null }];
  });
  return Object.fromEntries(entries);
}

/** All rows of the list as CSV, in its order. */
export function downloadList<Row>(ctx: Context, list: List<Row>): void {
  const sort = readSort(readQuery(ctx).sort, list);
  const read = (after: Listed<Row> | null) => list.read({ limit: sizeOfParts, after, sort });
  async function* rows() {
    for await (const part of pagesOf<Listed<Row>>(sizeOfParts, read)) yield* part;
  }
  ctx.attachment(`${list.path.split('/').at(-1)}.csv`);
  ctx.type = 'text/csv; charset=utf-8';
  ctx.body = listCsv(list.columns, rows());
}
