/** Sends one delivery again, from the list of deliveries or from the page of its payment. */
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { paymentStream } from '../../../events/payment.ts';
import { HttpProblem } from '../../server/context.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';
import { deliveriesPath } from './list.ts';

export const sendAgainFromList: Page = async (ctx, dependencies) => {
  const { transactionId = '', back = '' } = readForm(ctx);
  const isList = back === deliveriesPath || back.startsWith(`${deliveriesPath}?`);
  await sendAgain(ctx, dependencies, transactionId, isList ? back : deliveriesPath);
};

export const sendAgainFromPayment: Page = async (ctx, dependencies) => {
  const { id = '' } = ctx.params;
  await sendAgain(ctx, dependencies, id, `/console/payments/${id}`);
};

async function sendAgain(
  ctx: StaffContext,
  { execute, runtime }: PageDependencies,
  transactionId: string,
  backUrl: string,
): Promise<void> {
  if (!transactionIdPattern.test(transactionId)) throw new HttpProblem(404, 'There is no such delivery');
  const { delivery = '' } = readForm(ctx);
  const command = { type: 'RequestDelivery', at: runtime.now().toISOString(), delivery } as const;
  const { events } = await execute(paymentStream(transactionId), command, staffCause(ctx));
  leadTo(ctx, backUrl, events.length > 0 ? 'sent-again' : 'already-due');
}
