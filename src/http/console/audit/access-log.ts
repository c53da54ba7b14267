/** GET /console/access-log: who saw which personal data, for those who audit it. */
import { listAccessLog } from '../../../projections/access-log/queries.ts';
import { noSuchPage, pageOf, readQuery, readText } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { loadAccount } from '../frame/session.ts';

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
  const ids = [...new Set(rows.map(({ userId }) => userId))];
  const accounts = await Promise.all(ids.map((id) => loadAccount(eventStore, id)));
  const names = new Map(ids.map((id, index) => [id, accounts[index]?.name ?? id]));
  await show(ctx, 'audit/access-log.njk', {
    title: 'Access log',
    filter: fields,
    rows: rows.map((row) => ({ ...row, name: names.get(row.userId) })),
    ...links,
  });
};
