/** /console/deliveries/send-again: sends a whole list again, after staff have seen how many deliveries it holds. */
import { Refused } from '../../../commands/decider.ts';
import { kindsOfMachines, requestDeliveries } from '../../../commands/send-again.ts';
import { countDeliveries, findDeliveries } from '../../../to-do/delivery-queries.ts';
import { HttpProblem } from '../../server/context.ts';
import type { FormPage } from '../frame/form-page.ts';
import { type Fields, queryOf, readQuery } from '../frame/forms-and-lists.ts';
import { type PageDependencies, staffCause } from '../frame/page.ts';
import {
  canSendAgain,
  deliveriesFor,
  deliveriesPath,
  deliveryList,
  maxCounted,
  sendListPath,
} from './list.ts';

/** One request gives at most this many commands; `ledger send-again` takes more. */
export const maxAtOnce = 1_000;

/** Emails are left out unless the list is of emails alone. */
function readSendable(typed: Fields, dependencies: PageDependencies) {
  const { filter, fields } = deliveryList(typed, dependencies);
  if (!canSendAgain(fields.state))
    throw new HttpProblem(400, 'Choose deliveries that are due, delivered or given up');
  return { fields, filter: filter.kinds.length > 0 ? filter : { ...filter, kinds: kindsOfMachines } };
}

export const sendList: FormPage = {
  template: 'deliveries/send-again.njk',
  async model(ctx, dependencies, typed) {
    const { askReadModels, db } = dependencies;
    const { filter, fields } = readSendable(typed ?? readQuery(ctx), dependencies);
    const counting = countDeliveries(db, deliveriesFor(ctx, db, filter), maxCounted + 1);
    const [count] = await askReadModels(ctx, [counting]);
    return {
      filter: fields,
      sent: filter,
      count,
      isTooMany: count > maxAtOnce,
      maxCounted,
      maxAtOnce,
      action: sendListPath,
      backUrl: `${deliveriesPath}${queryOf(fields)}`,
    };
  },
  /** Sends nothing if the list is empty by now, or longer than what staff confirmed. A shorter one is sent. */
  async submit(ctx, dependencies, form) {
    const { askReadModels, db, execute, runtime, show } = dependencies;
    const { filter, fields } = readSendable(form, dependencies);
    const finding = findDeliveries(deliveriesFor(ctx, db, filter), maxAtOnce + 1);
    const [chosen] = await askReadModels(ctx, [finding]);
    const isConfirmed = chosen.length > 0 && chosen.length <= Math.min(Number(form.count), maxAtOnce);
    if (!isConfirmed) throw new Refused('list_changed', 'The list has changed. Check the new number.');
    const outcome = await requestDeliveries({ execute, cause: () => staffCause(ctx), runtime }, chosen);
    const backUrl = `${deliveriesPath}${queryOf(fields)}`;
    await show(ctx, 'deliveries/sent-again.njk', { ...outcome, asked: chosen.length, backUrl });
  },
};
