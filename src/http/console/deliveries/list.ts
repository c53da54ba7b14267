/** GET /console/deliveries: callbacks and receipts, filtered and counted. */
import { countDeliveries, type DeliveryFilter, listDeliveries } from '../../../to-do/queries.ts';
import {
  cursorText,
  type Fields,
  keysOf,
  pageOf,
  queryOf,
  readChoice,
  readCursor,
  readDay,
  readQuery,
  readText,
} from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { texts } from '../texts.ts';

export const deliveriesPath = '/console/deliveries';
export const sendListPath = '/console/deliveries/send-again';
const size = 50;
/** Above this number the pages only say that there are more. */
export const maxCounted = 10_000;

export const showDeliveries: Page = async (ctx, { askReadModels, db, show }) => {
  const query = readQuery(ctx);
  const { filter, fields } = readFilter(query);
  const cursor = readCursor(query.after, 2);
  const [transactionId = '', orderingKey = ''] = cursor?.ids ?? [];
  const after = cursor && { calledAt: cursor.at, transactionId, orderingKey };
  const [found, count] = await askReadModels(ctx, [
    listDeliveries(db, filter, { limit: size + 1, after }),
    countDeliveries(db, filter, maxCounted + 1),
  ]);
  const page = { size, path: deliveriesPath, filter: fields, isFirst: cursor === null };
  const { rows, ...links } = pageOf(found, page, (last) => ({
    after: cursorText(last.calledAt, last.transactionId, last.orderingKey),
  }));
  await show(ctx, 'deliveries/deliveries.njk', {
    title: 'Deliveries',
    filter: fields,
    countText: `${countText(count)} ${count === 1 ? 'delivery' : 'deliveries'}`,
    rows: rows.map((row) => ({ ...row, canSendAgain: canSendAgain(row.state) })),
    here: `${deliveriesPath}${queryOf({ ...fields, after: query.after })}`,
    sendListUrl: canSendAgain(fields.state) && count > 0 ? `${sendListPath}${queryOf(fields)}` : null,
    ...links,
  });
};

/** The filter, and the fields of the form that set it. */
export function readFilter(typed: Fields) {
  const fields = {
    state: readChoice(typed.state, keysOf(texts.deliveryStates)),
    kind: readChoice(typed.kind, keysOf(texts.deliveryKinds)),
    receiver: readText(typed.receiver),
    merchant: readText(typed.merchant),
    payment: readText(typed.payment)?.toUpperCase() ?? null,
    day: readText(typed.day),
  };
  const filter: DeliveryFilter = {
    states: fields.state === null ? [] : [fields.state],
    kinds: fields.kind === null ? [] : [fields.kind],
    receiver: fields.receiver,
    merchantCode: fields.merchant,
    transactionId: fields.payment,
    called: readDay(fields.day),
  };
  return { filter, fields };
}

export function countText(count: number): string {
  return count > maxCounted ? `More than ${maxCounted.toLocaleString('en')}` : count.toLocaleString('en');
}

export const canSendAgain = (state: keyof typeof texts.deliveryStates | null) =>
  state === 'abandoned' || state === 'delivered';
