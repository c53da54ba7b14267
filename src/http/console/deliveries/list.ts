/** GET /console/deliveries: callbacks and receipts, filtered and counted. */
import type { Knex } from 'knex';
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { findErased } from '../../../projections/payments/queries.ts';
import { type DeliveryFilter, deliveriesOf, type ListedDelivery } from '../../../to-do/delivery-queries.ts';
import { type Fields, keysOf, queryOf, readChoice, readQuery, readText } from '../frame/forms-and-lists.ts';
import { readDays, readList, readMerchant, rowsFor } from '../frame/list.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';
import { texts } from '../texts.ts';

export const deliveriesPath = '/console/deliveries';
export const sendListPath = '/console/deliveries/send-again';
/** Above this number the pages only say that there are more. */
export const maxCounted = 10_000;

export const showDeliveries: Page = async (ctx, dependencies) => {
  const list = deliveryList(readQuery(ctx), dependencies);
  const model = await readList<ListedDelivery>(ctx, dependencies, list);
  const ids = model.rows.map(({ transactionId }) => transactionId);
  const [erased] = await dependencies.askReadModels(ctx, [findErased(dependencies.db, ids)]);
  await dependencies.show(ctx, 'deliveries/deliveries.njk', {
    ...model,
    rows: model.rows.map((row) => ({
      ...row,
      // All but a callback would lack what was erased, and sending it is refused.
      canSendAgain: canSendAgain(row.state) && (row.kind === 'callback' || !erased.has(row.transactionId)),
    })),
    sendListUrl:
      canSendAgain(list.fields.state) && model.rows.length > 0
        ? `${sendListPath}${queryOf(list.fields)}`
        : null,
  });
};

export const deliveriesFor = (ctx: StaffContext, db: Knex, filter: DeliveryFilter) =>
  rowsFor(ctx, lists.deliveries, deliveriesOf(db, filter));

export function deliveryList(typed: Fields, dependencies: PageDependencies) {
  const days = readDays(typed);
  const fields = {
    state: readChoice(typed.state, keysOf(texts.en.deliveryStates)),
    kind: readChoice(typed.kind, keysOf(texts.en.deliveryKinds)),
    receiver: readText(typed.receiver)?.toLowerCase() ?? null,
    merchant: readMerchant(typed, dependencies),
    payment: readText(typed.payment)?.toUpperCase() ?? null,
    ...days.fields,
  };
  const { kind, merchant: merchantCode, payment: transactionId, receiver, state } = fields;
  const [states, kinds] = [state === null ? [] : [state], kind === null ? [] : [kind]];
  const filter: DeliveryFilter = { states, kinds, receiver, merchantCode, transactionId, called: days.span };
  const all = (db: Knex) => deliveriesOf(db, filter);
  return { listing: lists.deliveries, path: deliveriesPath, fields, filter, all };
}

export const canSendAgain = (state: keyof typeof texts.en.deliveryStates | null) =>
  state !== null && state !== 'superseded';
