/** GET /console/looks: who looked at what of people, for those who watch over it. */
import type { AccessLogPage } from '../../../events/session.ts';
import { listAccessLog } from '../../../projections/access-log/queries.ts';
import type { Context } from '../../server/context.ts';
import { queryOf, readText } from '../frame/filter-fields.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { askReadModels } from '../frame/read-models.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { loadAccount } from '../frame/session.ts';

const path = '/console/looks';
const pageSize = 50;

const texts: Readonly<Record<AccessLogPage, string>> = {
  payer: 'The payer’s details',
  evidence: 'An event as recorded',
  search: 'A search by payer',
  history: 'A history',
  export: 'An export',
};

export function personalDataRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [{ method: 'get', path, action: 'seeLooks', handle: (ctx) => showLooks(ctx, parts) }];
}

async function showLooks(
  ctx: Context,
  { console: { db }, eventStore, frame, log }: ConsoleParts,
): Promise<void> {
  const { before, staff: staffId, payment } = readQuery(ctx);
  if (before !== undefined && !/^\d{1,18}$/.test(before))
    throw new ConsoleProblem(400, 'The list has no such page');
  const filter = { userId: readText(staffId), transactionId: readText(payment)?.toUpperCase() ?? null };
  const page = { limit: pageSize + 1, before: before ?? null };
  const [found] = await askReadModels(ctx, log, [listAccessLog(db, filter, page)] as const);
  const rows = found.slice(0, pageSize);
  const ids = [...new Set(rows.map(({ userId }) => userId))];
  const accounts = await Promise.all(ids.map((id) => loadAccount(eventStore, id)));
  const names = new Map(ids.map((id, index) => [id, accounts[index]?.name ?? id]));
  const last = found.length > pageSize ? rows.at(-1) : undefined;
  const fields = { staff: filter.userId, payment: filter.transactionId };
  await frame.show(ctx, 'audit/looks.njk', {
    title: 'Who looked at personal data',
    filter: fields,
    rows: rows.map((row) => ({
      ...row,
      at: row.at.toISOString(),
      name: names.get(row.userId),
      text: texts[row.what],
    })),
    isFirstPage: before === undefined,
    firstUrl: `${path}${queryOf(fields)}`,
    nextUrl: last ? `${path}${queryOf({ ...fields, before: last.position })}` : null,
  });
}
