/** /console/deliveries/send-again: sends a whole list again, after staff have seen how many deliveries it holds. */
import { kindsOfMachines, requestDeliveries } from '../../../commands/send-again.ts';
import { countDeliveries, findDeliveries } from '../../../to-do/delivery-queries.ts';
import { HttpProblem } from '../../server/context.ts';
import { type Fields, queryOf, readForm, readQuery } from '../frame/forms-and-lists.ts';
import { type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';
import { canSendAgain, deliveriesFor, deliveriesPath, maxCounted, readFilter, sendListPath } from './list.ts';

/** One request gives at most this many commands; `ledger send-again` takes more. */
const maxAtOnce = 1_000;

/** Emails are left out unless the list is of emails alone. */
function readSendable(typed: Fields) {
  const { filter, fields } = readFilter(typed);
  if (!canSendAgain(fields.state))
    throw new HttpProblem(400, 'Only deliveries that were delivered or given up can be sent again');
  return { fields, filter: filter.kinds.length > 0 ? filter : { ...filter, kinds: kindsOfMachines } };
}

export const confirmSendList: Page = async (ctx, dependencies) => {
  await showConfirmation(ctx, dependencies, readQuery(ctx), null);
};

async function showConfirmation(
  ctx: StaffContext,
  { askReadModels, db, show }: PageDependencies,
  typed: Fields,
  problem: string | null,
): Promise<void> {
  const { filter, fields } = readSendable(typed);
  const counting = countDeliveries(db, deliveriesFor(ctx, db, filter), maxCounted + 1);
  const [count] = await askReadModels(ctx, [counting]);
  await show(ctx, 'deliveries/send-again.njk', {
    filter: fields,
    sent: filter,
    count,
    isTooMany: count > maxAtOnce,
    maxCounted,
    maxAtOnce,
    problem,
    action: sendListPath,
    backUrl: `${deliveriesPath}${queryOf(fields)}`,
  });
}

/** Refuses with 409, and sends nothing, when the list no longer holds the number that staff confirmed. */
export const sendListAgain: Page = async (ctx, dependencies) => {
  const { askReadModels, db, execute, runtime, show } = dependencies;
  const typed = readForm(ctx);
  const { filter, fields } = readSendable(typed);
  const finding = findDeliveries(deliveriesFor(ctx, db, filter), maxAtOnce + 1);
  const [chosen] = await askReadModels(ctx, [finding]);
  if (chosen.length > maxAtOnce || String(chosen.length) !== typed.count) {
    ctx.status = 409;
    return showConfirmation(ctx, dependencies, typed, 'The list has changed. Check the new number.');
  }
  const cause = () => staffCause(ctx);
  const { asked, refused, reasons } = await requestDeliveries({ execute, cause, runtime }, chosen);
  await show(ctx, 'deliveries/sent-again.njk', {
    asked,
    refused,
    reasons,
    backUrl: `${deliveriesPath}${queryOf(fields)}`,
  });
};
