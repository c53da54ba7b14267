/** GET /console/exceptions: everything that waits for staff, of all kinds. */
import {
  type ExceptionFilter,
  listExceptions,
  listedKinds,
} from '../../../projections/exceptions/queries.ts';
import {
  cursorText,
  pageOf,
  readChoice,
  readCursor,
  readDay,
  readQuery,
  readText,
} from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { texts } from '../texts.ts';

const size = 50;

export const showExceptions: Page = async (ctx, { askReadModels, db, show }) => {
  const query = readQuery(ctx);
  const fields = {
    // Most people look for open exceptions; `all` must be chosen.
    state: readChoice(query.state, ['open', 'resolved', 'all']) ?? 'open',
    kind: readChoice(query.kind, listedKinds),
    merchant: readText(query.merchant),
    day: readText(query.day),
  };
  const filter: ExceptionFilter = {
    state: fields.state === 'all' ? null : fields.state,
    kind: fields.kind,
    merchantCode: fields.merchant,
    recorded: readDay(fields.day),
  };
  const cursor = readCursor(query.after, 1);
  const after = cursor && { at: cursor.at, id: cursor.ids[0] ?? '' };
  const [found] = await askReadModels(ctx, [listExceptions(db, filter, { limit: size + 1, after })]);
  const place = { size, path: '/console/exceptions', filter: fields, isFirst: cursor === null };
  const page = pageOf(found, place, ({ at, id }) => ({ after: cursorText(at, id) }));
  await show(ctx, 'exceptions/exceptions.njk', {
    title: 'Exceptions',
    filter: fields,
    kinds: listedKinds.map((value) => ({ value, text: texts.exceptions.kinds[value].name })),
    ...page,
  });
};
