/** /console/journal/account: the statement of one account of the journal, as a page and as CSV. */
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { boundsOfDay, dayOf } from '../../../common/malaysian-time.ts';
import { absolute } from '../../../common/money.ts';
import {
  accountPages,
  accountStatement,
  accountSums,
  merchantAccount,
} from '../../../projections/journal/queries.ts';
import { accountLines } from '../../../statements/csv.ts';
import { HttpProblem } from '../../server/context.ts';
import { pageOf, queryOf, readQuery } from '../frame/forms-and-lists.ts';
import { readPageAsked } from '../frame/list.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import { takeDownloadSlot } from '../frame/request-slots.ts';
import type { StaffContext } from '../frame/session.ts';
import { findGap, readAsOf, refuseGap } from './as-of.ts';

export const accountPath = '/console/journal/account';
const csvPath = '/console/journal/account.csv';

/** The balance as bookkeepers write it, with a side instead of a sign. `sen` is credits less debits. */
export function balanceOf(sen: bigint): { balanceSen: bigint; side: '' | 'Dr' | 'Cr' } {
  if (sen === 0n) return { balanceSen: 0n, side: '' };
  return { balanceSen: absolute(sen), side: sen < 0n ? 'Dr' : 'Cr' };
}

/** If no first day is given, from the start of the last day's month. */
export function periodOf(from: string | undefined, to: string): { from: string; to: string } {
  return { from: from || `${to.slice(0, 8)}01`, to };
}

/** Throws HttpProblem if the query names no account or no period. Staff with a scope see only their merchants' accounts. */
async function readRequest(ctx: StaffContext, { askReadModels, db, runtime }: PageDependencies) {
  const { account = '', from, to } = readQuery(ctx);
  const now = runtime.now();
  const period = periodOf(from, to || dayOf(now.toISOString()));
  if (!boundsOfDay(period.from) || !boundsOfDay(period.to) || period.from > period.to)
    throw new HttpProblem(400, 'A period needs two days, the earlier one first; write a day as 2026-11-20');
  const { merchants } = ctx.state.staff;
  const isVisible = merchants === null || merchants.some((code) => merchantAccount(code) === account);
  const [{ debitSen, creditSen }] = await askReadModels(ctx, [accountSums(db, account, now)]);
  // The page of settlements links to the account of the bank before anything is posted to it.
  if (!isVisible || (debitSen === 0n && creditSen === 0n && account !== 'bank'))
    throw new HttpProblem(404, 'Nothing was ever posted to an account of this name');
  return { request: { account, ...period }, asOf: readAsOf(period.to, now), now };
}

export const showAccount: Page = async (ctx, dependencies) => {
  const { askReadModels, db, show } = dependencies;
  const { request, asOf } = await readRequest(ctx, dependencies);
  const page = readPageAsked(readQuery(ctx), lists.accountLines, 200);
  const [{ openingSen, lines, closingSen }, gap] = await askReadModels(ctx, [
    accountStatement(db, { ...request, ...page }),
    findGap(ctx, dependencies, asOf),
  ]);
  const { rows, ...links } = pageOf(lines, page, accountPath, request);
  await show(ctx, 'journal/account.njk', {
    title: request.account,
    ...request,
    ...links,
    gap: gap?.message ?? null,
    opening: balanceOf(openingSen),
    closing: balanceOf(closingSen),
    rows: rows.map((line) => ({ ...line, ...balanceOf(line.balanceSen) })),
    csvUrl: `${csvPath}${queryOf(request)}`,
  });
};

export const downloadAccount: Page = async (ctx, dependencies) => {
  const { request, asOf } = await readRequest(ctx, dependencies);
  await refuseGap(ctx, dependencies, asOf);
  takeDownloadSlot(ctx);
  const name = [request.account, request.from, request.to].join('-').replace(/[^\w.-]+/g, '-');
  ctx.attachment(`${name}.csv`);
  ctx.type = 'text/csv; charset=utf-8';
  ctx.body = accountLines(request.account, accountPages(dependencies.db, request));
};
