/** GET /console/access-log: who saw which personal data, for those who audit it. */
import type { AccessLogPage } from '../../../events/session.ts';
import { listAccessLog } from '../../../projections/access-log/queries.ts';
import { readQuery, readText } from '../frame/fields.ts';
import { noSuchPage, pageOf } from '../frame/list.ts';
import type { Page } from '../frame/page.ts';
import { askReadModels } from '../frame/read-models.ts';
import { loadAccount } from '../frame/session.ts';

const path = '/console/access-log';
const size = 50;

const texts: Readonly<Record<AccessLogPage, string>> = {
  payer: 'Payer’s details',
  evidence: 'Event as recorded',
  search: 'Search by payer',
  history: 'History',
  export: 'Export',
};

export const showAccessLog: Page = async (ctx, { db, eventStore, log, show }) => {
  const { before = null, staff, payment } = readQuery(ctx);
  if (before !== null && !/^\d{1,18}$/.test(before)) throw noSuchPage();
  const fields = { staff: readText(staff), payment: readText(payment)?.toUpperCase() ?? null };
  const filter = { userId: fields.staff, transactionId: fields.payment };
  const [found] = await askReadModels(ctx, log, [listAccessLog(db, filter, { limit: size + 1, before })]);
  const { rows, ...links } = pageOf(found, {
    size,
    path,
    filter: fields,
    isFirst: before === null,
    nextAfter: ({ position }) => ({ before: position }),
  });
  const ids = [...new Set(rows.map(({ userId }) => userId))];
  const accounts = await Promise.all(ids.map((id) => loadAccount(eventStore, id)));
  const names = new Map(ids.map((id, index) => [id, accounts[index]?.name ?? id]));
  await show(ctx, 'audit/access-log.njk', {
    title: 'Access log',
    filter: fields,
    rows: rows.map((row) => ({
      ...row,
      at: row.at.toISOString(),
      name: names.get(row.userId),
      text: texts[row.what],
    })),
    ...links,
  });
};
