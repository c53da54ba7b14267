/** POST /console/payments/{id}/send-again: sends one delivery again, from the page of its payment or the list of deliveries. */
import { paymentStream } from '../../../events/payment.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, staffCause } from '../frame/page.ts';
import { deliveriesPath } from './list.ts';

export const sendAgain: Page = async (ctx, { execute, runtime }) => {
  const { id = '' } = ctx.params;
  const { back = '', delivery = '' } = readForm(ctx);
  const command = { type: 'RequestDelivery', at: runtime.now().toISOString(), delivery } as const;
  const { events } = await execute(paymentStream(id), command, staffCause(ctx));
  const isList = back === deliveriesPath || back.startsWith(`${deliveriesPath}?`);
  leadTo(ctx, isList ? back : `/console/payments/${id}`, events.length > 0 ? 'sent-again' : 'already-due');
};
