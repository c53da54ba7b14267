/** GET /console/deliveries: callbacks and receipts, filtered and counted. */
import { createDeliveryList } from '../../../projections/deliveries/queries.ts';
import { optionsOf, queryOf, readQuery } from '../frame/fields.ts';
import { cursorText, pageOf, readCursor } from '../frame/list.ts';
import type { Page } from '../frame/page.ts';
import { askReadModels } from '../frame/read-models.ts';
import {
  canSendAgain,
  countText,
  deliveriesPath,
  kindTexts,
  maxCounted,
  readFilter,
  sendListPath,
  stateTexts,
} from './filter.ts';

const size = 50;

export const showDeliveries: Page = async (ctx, { db, log, show }) => {
  const query = readQuery(ctx);
  const { filter, fields } = readFilter(query);
  const cursor = readCursor(query.after, 2);
  const [transactionId = '', orderingKey = ''] = cursor?.ids ?? [];
  const deliveries = createDeliveryList(db);
  const after = cursor && { calledAt: cursor.at, transactionId, orderingKey };
  const [found, count] = await askReadModels(ctx, log, [
    deliveries.list(filter, { limit: size + 1, after }),
    deliveries.count(filter, maxCounted + 1),
  ]);
  const { rows, ...links } = pageOf(found, {
    size,
    path: deliveriesPath,
    filter: fields,
    isFirst: cursor === null,
    nextAfter: (last) => ({ after: cursorText(last.calledAt, last.transactionId, last.orderingKey) }),
  });
  await show(ctx, 'deliveries/deliveries.njk', {
    title: 'Deliveries',
    filter: fields,
    states: optionsOf(stateTexts),
    kinds: optionsOf(kindTexts),
    countText: `${countText(count)} ${count === 1 ? 'delivery' : 'deliveries'}`,
    rows: rows.map((row) => ({ ...row, canSendAgain: canSendAgain(row.state) })),
    here: `${deliveriesPath}${queryOf({ ...fields, after: query.after })}`,
    sendListUrl: canSendAgain(fields.state) && count > 0 ? `${sendListPath}${queryOf(fields)}` : null,
    ...links,
  });
};
