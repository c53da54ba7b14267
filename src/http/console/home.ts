/** The first page: the figures of a day, each a link to what it counts, and what waits for staff. */
import { dayOf } from '../../events/malaysian-time.ts';
import { displaySen } from '../../events/money.ts';
import { countDeliveries, allDeliveries } from '../../projections/deliveries-list.ts';
import { listedKinds, openExceptions } from '../../projections/exceptions-queries.ts';
import { type DayFigures, dayFigures, type DelayFigures } from '../../projections/figures-queries.ts';
import type { Context } from '../context.ts';
import { en } from '../pages/texts/en.ts';
import { kindTexts } from './exception-texts.ts';
import { queryOf, readDay } from './filter-fields.ts';
import { readQuery } from './form.ts';
import type { ConsoleParts } from './parts.ts';
import { columnPlot, sharePlot } from './plots.ts';
import type { ConsoleRoute } from './route.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** A count of waiting deliveries that is past this is shown as more. */
const maxCounted = 10_000;

export function homeRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [{ method: 'get', path: '/console', action: 'look', handle: (ctx) => showHome(ctx, parts) }];
}
