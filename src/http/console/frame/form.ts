/** What was typed into a form or a query: texts, each once. */
import type { Context } from '../../server/context.ts';

/** The fields of a POST; one that is given twice counts as not given. */
export function readForm(ctx: Context): Readonly<Record<string, string | undefined>> {
  return textsOf(ctx.request.body);
}

/** Likewise of the query. */
export function readQuery(ctx: Context): Readonly<Record<string, string | undefined>> {
  return textsOf(ctx.query);
}

function textsOf(fields: unknown): Record<string, string> {
  const entries = typeof fields === 'object' && fields !== null ? Object.entries(fields) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // Without a prototype, so that `constructor` is no field unless somebody sent one.
  return Object.assign(Object.create(null), Object.fromEntries(texts));
}
