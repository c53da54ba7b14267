/** What waits for staff: the list, one of them with what was expected and what was reported, and its resolution. */

import {
  createExceptionQueries,
  type ExceptionFilter,
  listedKinds,
} from '../../../projections/exceptions/queries.ts';
import type { Context } from '../../server/context.ts';
import { cursorText, readCursor } from '../frame/cursor.ts';
import { queryOf, readChoice, readDay, readText } from '../frame/filter-fields.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { askReadModels } from '../frame/read-models.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { discrepancyRoutes } from './discrepancy.ts';
import { paymentExceptionRoutes } from './payment-exception.ts';
import { kindTexts, resolutionTexts } from './texts.ts';
import { unmatchedRoutes } from './unmatched-result.ts';

const pageSize = 50;

export function exceptionRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    { method: 'get', path: '/console/exceptions', action: 'look', handle: (ctx) => showList(ctx, parts) },
    ...paymentExceptionRoutes(parts),
    ...unmatchedRoutes(parts),
    ...discrepancyRoutes(parts),
  ];
}

async function showList(ctx: Context, { console: { db }, frame, log }: ConsoleParts): Promise<void> {
  const { notice: _, after: cursor, ...query } = readQuery(ctx);
  // What is open is what most come for; `all` is asked for by name.
  const state = readChoice(query.state, ['open', 'resolved', 'all']) ?? 'open';
  const filter: ExceptionFilter = {
    state: state === 'all' ? null : state,
    kind: readChoice(query.kind, listedKinds),
    merchantCode: readText(query.merchant),
    recorded: readDay(query.day),
  };
  const after = readCursor(cursor, 1);
  const page = { limit: pageSize + 1, after: after && { at: after.at, id: after.ids[0] ?? '' } };
  const [found] = await askReadModels(ctx, log, [createExceptionQueries(db).list(filter, page)]);
  const rows = found.slice(0, pageSize);
  const last = found.length > pageSize ? rows.at(-1) : undefined;
  const { merchantCode: merchant, kind } = filter;
  const { day } = query;
  await frame.show(ctx, 'exceptions/exceptions.njk', {
    title: 'Exceptions',
    filter: { state, kind: kind ?? '', merchant: merchant ?? '', day: day ?? '' },
    kinds: listedKinds.map((value) => ({ value, text: kindTexts[value].name })),
    rows: rows.map((row) => ({
      ...row,
      name: kindTexts[row.kind].name,
      resolution: row.resolution === null ? null : (resolutionTexts[row.resolution] ?? row.resolution),
    })),
    isFirstPage: after === null,
    firstUrl: `/console/exceptions${queryOf({ state, kind, merchant, day })}`,
    nextUrl: last
      ? `/console/exceptions${queryOf({ state, kind, merchant, day, after: cursorText({ at: last.at, ids: [last.id] }) })}`
      : null,
  });
}
