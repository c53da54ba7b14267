/** What lists have in common: filters by day and amount, sorting, pages, totals, and the same rows as CSV. */
import { rowsOf } from '@ledger/kernel/pages.ts';
import { isCursor, type Listed, type Listing, readPage, totalsOf } from '@ledger/postgres/listing.ts';
import type { Knex } from 'knex';
import { readAmount } from '../../../common/money.ts';
import { merchantCodeOf } from '../../../config/merchants.ts';
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
import type { Page, PageDependencies } from './page.ts';
import { takeDownloadSlot } from './request-slots.ts';
import type { StaffContext } from './session.ts';

const size = 50;
const sizeOfParts = 1_000;

export type List = {
  listing: Listing;
  path: string;
  /** The fields of the form that filters it. */
  fields: Readonly<Record<string, string | null>>;
  /** A new query for all its rows. */
  all(db: Knex): Knex.QueryBuilder;
};

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

/** The code of a merchant that is typed as its code or its agency id. */
export function readMerchant({ merchant }: Fields, { config }: Pick<PageDependencies, 'config'>) {
  const named = readText(merchant);
  return named && merchantCodeOf(config.merchants, named);
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

/** The page that the query asks for; one more row than `size` shows whether another follows. Throws HttpProblem. */
export function readPageAsked({ after }: Fields, listing: Listing, size: number) {
  if (after !== undefined && !isCursor(after, listing)) throw noSuchPage();
  return { limit: size + 1, after: after === undefined ? null : { cursor: after } };
}

/** The model of views/console/list.njk; `typed` has the page and the order that are asked for. */
export async function readList<Row>(
  ctx: StaffContext,
  { askReadModels, db, lastList }: PageDependencies,
  { all, fields, listing, path }: List,
  typed: Fields = readQuery(ctx),
  message?: string,
) {
  const sort = readSort(typed, listing);
  const rows = () => rowsFor(ctx, listing, all(db));
  const page = { ...readPageAsked(typed, listing, size), sort };
  const [found, totals] = await askReadModels(
    ctx,
    [readPage<Row>(db, rows(), listing, page), totalsOf(db, rows(), listing)],
    message,
  );
  lastList.remember(ctx);
  const filter = { ...fields, sort };
  return {
    ...pageOf(found, page, path, filter),
    filter: fields,
    here: `${path}${queryOf({ ...filter, after: typed.after })}`,
    totals,
    isFiltered: Object.values(fields).some((field) => field !== null),
    query: queryOf(fields),
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

/** Answers with all rows of the list as CSV, in its order; `listOf` is the list that a query asks for. */
export const downloadList =
  (listOf: (typed: Fields, dependencies: PageDependencies) => List): Page =>
  async (ctx, dependencies) => {
    const { askReadModels, db } = dependencies;
    const typed = readQuery(ctx);
    const { all, listing, path } = listOf(typed, dependencies);
    const sort = readSort(typed, listing);
    const read = (after: Listed<object> | null) =>
      readPage<object>(db, rowsFor(ctx, listing, all(db)), listing, { limit: sizeOfParts, after, sort });
    takeDownloadSlot(ctx);
    // The first page is read before the answer begins, which could not say that Postgres is down.
    const [first] = await askReadModels(ctx, [read(null)]);
    const rows = rowsOf<Listed<object>>(sizeOfParts, (after) => (after ? read(after) : first));
    ctx.attachment(`${path.split('/').at(-1)}.csv`);
    ctx.type = 'text/csv; charset=utf-8';
    ctx.body = listCsv(Object.keys(listing.columns), rows);
  };
