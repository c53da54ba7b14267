/** GET /api/v1/users and /api/v1/projects: a bare array in the order of creation, a page at a time. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import type { ListQueries } from '@ledger/projections/runtime/list-projection.ts';
import { array, type Struct } from 'superstruct';
import type { Context } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { answer } from './bodies.ts';
import { apiProblem } from './errors.ts';

export const maxPageSize = 100;
export const defaultPageSize = 50;

/** `?limit=` and `?starting_after=` choose the page; where more follow, a Link header leads to the next. */
export function createList<Entry extends { id: string }, Shown>(
  { config, log }: Dependencies,
  entries: ListQueries<Entry>,
  struct: Struct<Shown, unknown>,
  present: (entry: Entry) => Shown,
) {
  return async (ctx: Context): Promise<void> => {
    const { limit, after } = readPage(ctx.query);
    // One more than requested shows whether another page follows.
    const found = await entries.list({ limit: limit + 1, after }).catch((err: unknown) => {
      log.warn({ err }, 'a list cannot be read from Postgres');
      throw apiProblem(503, 'unavailable', 'The list cannot be read at the moment; try again later');
    });
    if (!found) throw invalidParameter('starting_after is the id of nothing in this list');
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (last && found.length > limit)
      ctx.set('Link', `<${config.baseUrl}${ctx.path}?limit=${limit}&starting_after=${last.id}>; rel="next"`);
    answer(ctx, array(struct), page.map(present));
  };
}

/** Refuses a parameter that is given twice, which is an array. */
function readPage(query: Context['query']): { limit: number; after: string | null } {
  const { limit = String(defaultPageSize), starting_after: after = null } = query;
  if (typeof limit !== 'string' || !/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > maxPageSize)
    throw invalidParameter(`limit must be a whole number from 1 to ${maxPageSize}`);
  if (after !== null && (typeof after !== 'string' || !derivedIdPattern.test(after)))
    throw invalidParameter('starting_after must be an id');
  return { limit: Number(limit), after };
}

const invalidParameter = (message: string) => apiProblem(400, 'invalid_parameter', message);
