/** GET /console/access-log: who saw which personal data, for those who audit it. */
import { listAccessLog } from '../../../projections/access-log/queries.ts';
import { noSuchPage, pageOf, readQuery, readText } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { actorNames } from '../frame/session.ts';

const path = '/console/access-log';
const size = 50;

export const showAccessLog: Page = async (ctx, { askReadModels, db, eventStore, show }) => {
  const { before = null, staff, payment } = readQuery(ctx);
  if (before !== null && !/^\d{1,18}$/.test(before)) throw noSuchPage();
  const fields = { staff: readText(staff), payment: readText(payment)?.toUpperCase() ?? null };
  const filter = { userId: fields.staff, transactionId: fields.payment };
  const [found] = await askReadModels(ctx, [listAccessLog(db, filter, { limit: size + 1, before })]);
  const page = { size, path, filter: fields, isFirst: before === null };
  const { rows, ...links } = pageOf(found, page, ({ position }) => ({ before: position }));
  const actorOf = ({ userId }: { userId: string }) => `staff:${userId}`;
  const nameOf = await actorNames(eventStore, rows.map(actorOf));
  await show(ctx, 'audit/access-log.njk', {
    filter: fields,
    rows: rows.map((row) => ({ ...row, name: nameOf(actorOf(row)) })),
    ...links,
  });
};
