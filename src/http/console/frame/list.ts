/** What lists have in common: filters by day and amount, sorting, pages, totals, and the same rows as CSV. */
import { pagesOf } from '@ledger/kernel/pages.ts';
import { isCursor, type Listed, type Listing, readPage, totalsOf } from '@ledger/postgres/listing.ts';
import type { Knex } from 'knex';
import { readAmount } from '../../../common/money.ts';
import { listCsv } from '../../../statements/csv.ts';
import { HttpProblem } from '../../server/context.ts';
import {
  type Fields,
  noSuchPage,
  pageOf,
  queryOf,
  readChoice,
  readQuery,
  readText,
  spanOfDay,
} from './forms-and-lists.ts';
import type { PageDependencies } from './page.ts';
import type { StaffContext } from './session.ts';

const size = 50;
const sizeOfParts = 1_000;

export type List = {
  listing: Listing;
  path: string;
  /** The fields of the form that filters it. */
  fields: Readonly<Record<string, string | null>>;
  /** A new query for all its rows. */
  all(): Knex.QueryBuilder;
};

/** The rows that these staff may see: those of merchants in their scope. */
export function rowsFor({ state: { staff } }: StaffContext, { owner }: Listing, all: Knex.QueryBuilder) {
  return staff.merchants ? all.whereIn(owner, staff.merchants) : all;
}

/** Malaysian days, both included; `day` is both. Throws HttpProblem for a day that does not exist. */
export function readDays({ day, from = day, to = day }: Fields) {
  const fields = { from: readText(from), to: readText(to) };
  if (fields.from === null && fields.to === null) return { fields, span: null };
  const { start } = spanOfDay(fields.from ?? '1900-01-02');
  const { end } = spanOfDay(fields.to ?? '2099-12-30');
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
  return { fields, amounts: { least: senOf(fields.least), most: senOf(fields.most) } };
}

/** The cursor that a page is asked for after. Throws HttpProblem for one that is in none of our links. */
export function readAfter({ after }: Fields, listing: Listing) {
  if (after !== undefined && !isCursor(after, listing)) throw noSuchPage();
  return after === undefined ? null : { cursor: after };
}

/** The model of views/console/list.njk; `typed` has the page and the order that are asked for. */
export async function readList<Row>(
  ctx: StaffContext,
  { askReadModels, db, lastList }: Pick<PageDependencies, 'askReadModels' | 'db' | 'lastList'>,
  { all, fields, listing, path }: List,
  typed: Fields = readQuery(ctx),
  message?: string,
) {
  const sort = readSort(typed, listing);
  const rows = () => rowsFor(ctx, listing, all());
  const page = { limit: size + 1, after: readAfter(typed, listing), sort };
  const [found, totals] = await askReadModels(
    ctx,
    [readPage<Row>(db, rows(), listing, page), totalsOf(db, rows(), listing)],
    message,
  );
  lastList.remember(ctx);
  const { after } = typed;
  const filter = { ...fields, sort };
  return {
    ...pageOf(found, { size, path, filter, after }),
    filter: fields,
    here: `${path}${queryOf({ ...filter, after })}`,
    totals,
    isFiltered: Object.values(fields).some((field) => field !== null),
    exportUrl: `${path}/export.csv${queryOf(filter)}`,
    sort: sort ?? `-${Object.keys(listing.sorts)[0]}`,
    sortUrl: (name: string) => `${path}${queryOf({ ...fields, sort: name })}`,
  };
}

function readSort({ sort }: Fields, { sorts }: Listing): string | null {
  return readChoice(
    sort,
    Object.keys(sorts).flatMap((name) => [name, `-${name}`]),
  );
}

/** All rows of the list as CSV, in its order. */
export async function downloadList(
  ctx: StaffContext,
  { askReadModels, db }: Pick<PageDependencies, 'askReadModels' | 'db'>,
  { all, listing, path }: List,
): Promise<void> {
  const sort = readSort(readQuery(ctx), listing);
  const read = (after: Listed<object> | null) =>
    readPage<object>(db, rowsFor(ctx, listing, all()), listing, { limit: sizeOfParts, after, sort });
  // Before the answer begins, which could not say that Postgres is down.
  const [first] = await askReadModels(ctx, [read(null)]);
  async function* rows() {
    const parts = pagesOf<Listed<object>>(sizeOfParts, (after) => (after ? read(after) : first));
    for await (const part of parts) yield* part;
  }
  ctx.attachment(`${path.split('/').at(-1)}.csv`);
  ctx.type = 'text/csv; charset=utf-8';
  ctx.body = listCsv(Object.keys(listing.columns), rows());
}
