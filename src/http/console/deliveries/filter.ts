/** What the list of deliveries is filtered by, for the list itself and for sending all of it again. */
import type { DeliveryFilter, ListedDelivery } from '../../../projections/deliveries/queries.ts';
import { type Fields, keysOf, readChoice, readDay, readText } from '../frame/fields.ts';

export const deliveriesPath = '/console/deliveries';
export const sendListPath = '/console/deliveries/send-again';
/** Above this number the pages say that there are more. */
export const maxCounted = 10_000;

export const stateTexts = {
  due: 'Due',
  delivered: 'Delivered',
  abandoned: 'Given up',
  superseded: 'Superseded',
} as const satisfies Record<ListedDelivery['state'], string>;

export const kindTexts = {
  callback: 'Callbacks to merchants',
  item: 'Land-registry items',
  email: 'Receipts by email',
} as const satisfies Record<ListedDelivery['kind'], string>;

/** The filter, and the fields of the form that set it. */
export function readFilter(typed: Fields) {
  const fields = {
    state: readChoice(typed.state, keysOf(stateTexts)),
    kind: readChoice(typed.kind, keysOf(kindTexts)),
    receiver: readText(typed.receiver),
    merchant: readText(typed.merchant),
    day: readText(typed.day),
  };
  const filter: DeliveryFilter = {
    states: fields.state === null ? [] : [fields.state],
    kinds: fields.kind === null ? [] : [fields.kind],
    receiver: fields.receiver,
    merchantCode: fields.merchant,
    called: readDay(fields.day),
  };
  return { filter, fields };
}

export function countText(count: number): string {
  return count > maxCounted ? `More than ${maxCounted.toLocaleString('en')}` : count.toLocaleString('en');
}

export function canSendAgain(state: ListedDelivery['state'] | null): boolean {
  return state === 'abandoned' || state === 'delivered';
}
