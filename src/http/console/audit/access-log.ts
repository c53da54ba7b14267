/** GET /console/access-log: who saw which personal data, for those who audit it. */
import { readPage } from '@ledger/postgres/listing.ts';
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { type AccessLogEntry, accessesOf } from '../../../projections/access-log/queries.ts';
import { pageOf, readQuery, readText } from '../frame/forms-and-lists.ts';
import { readPageAsked } from '../frame/list.ts';
import type { Page } from '../frame/page.ts';
import { actorNames } from '../frame/session.ts';

export const showAccessLog: Page = async (ctx, { askReadModels, db, eventStore, show }) => {
  const query = readQuery(ctx);
  const filter = { staff: readText(query.staff), payment: readText(query.payment)?.toUpperCase() ?? null };
  const all = accessesOf(db, filter.staff, filter.payment);
  const page = readPageAsked(query, lists.accessLog, 50);
  const [found] = await askReadModels(ctx, [readPage<AccessLogEntry>(db, all, lists.accessLog, page)]);
  const { rows, ...links } = pageOf(found, page, '/console/access-log', filter);
  // That of a command has the form already.
  const actorOf = ({ userId }: { userId: string }) => userId.replace(/^(?!staff:)/, 'staff:');
  const nameOf = await actorNames(eventStore, rows.map(actorOf));
  await show(ctx, 'audit/access-log.njk', {
    filter,
    rows: rows.map((row) => ({ ...row, name: nameOf(actorOf(row)) })),
    ...links,
  });
};
